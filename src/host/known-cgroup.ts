import type { Clock } from '../base/clock.ts';
import type { UsageLimits } from '../model/usage.ts';
import type { KeptFiles } from './kept-files.ts';
import { readPseudoFile } from './proc-usage-file.ts';

/** How much of a cgroup is read: what summaries are made of, or all there is, which costs three times as much. */
export type UsageDepth = 'core' | 'everything';

/** What is set and seldom changes, so that it need not be read each time. */
export interface SetValues {
  readonly limits: UsageLimits;
  /** 0 for any number. */
  readonly threadsMax: number | undefined;
}

/** What usage is worked out from. */
export interface CgroupFiles {
  /** The text of one file, in the tree of a controller, the empty name on version 2; undefined where there is none. */
  read(controller: string, file: string): string | undefined;
  /** What is known to be set, if all that this depth wants is known and new enough. */
  valuesSet(depth: UsageDepth): SetValues | undefined;
  /** Remembers that for a while. */
  keepValues(depth: UsageDepth, values: SetValues): SetValues;
}

export interface CgroupTrees {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Where the tree of a controller is mounted; that of version 2 under the empty name. */
  readonly roots: ReadonlyMap<string, string>;
  /** Keeps what is read for every page open. */
  readonly files: KeptFiles | undefined;
}

/** It is a third of all files, so it is not read for every page. */
const valuesKeepMs = 60_000;
/** What every page is made of, in both versions. */
const oftenRead = new Set([
  'cpuacct.usage',
  'memory.usage_in_bytes',
  'memory.stat',
  'cpu.stat',
  'memory.current',
  'cgroup.procs',
]);

/** A cgroup that is read again and again. */
export class KnownCgroup implements CgroupFiles {
  readonly #path: string;
  readonly #trees: CgroupTrees;
  /** Of what is read often, by its name: a path that is put together anew is a new key, to be hashed letter by letter. */
  readonly #paths = new Map<string, string>();
  #set: { readonly values: SetValues; readonly depth: UsageDepth; readonly untilMs: number } | undefined;

  constructor(path: string, trees: CgroupTrees) {
    this.#path = path;
    this.#trees = trees;
  }

  read(controller: string, file: string): string | undefined {
    const { roots, files } = this.#trees;
    const known = this.#paths.get(file);
    if (known !== undefined && files !== undefined) return files.read(known);
    const root = roots.get(controller);
    if (root === undefined) return undefined;
    const path = `${root}${this.#path}/${file}`;
    if (files === undefined || !oftenRead.has(file)) return readPseudoFile(path);
    this.#paths.set(file, path);
    return files.read(path);
  }

  valuesSet(depth: UsageDepth): SetValues | undefined {
    const set = this.#set;
    const serves = set !== undefined && (set.depth === 'everything' || depth === 'core');
    return serves && this.#trees.clock.monotonic() < set.untilMs ? set.values : undefined;
  }

  keepValues(depth: UsageDepth, values: SetValues): SetValues {
    this.#set = { values, depth, untilMs: this.#trees.clock.monotonic() + valuesKeepMs };
    return values;
  }
}
