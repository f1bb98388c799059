import type { Clock } from '../base/clock.ts';
import type { UsageLimits } from '../model/usage.ts';
import type { KeptFile, KeptFiles } from './kept-files.ts';
import { asText, readPseudoFileAs, type FileForm } from './proc-usage-file.ts';

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
  /** The same in another form, which may be overwritten when it is asked for the next time. */
  readAs<T>(form: FileForm<T>, controller: string, file: string): T | undefined;
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
  /** What is read often, by its name. */
  readonly #often = new Map<string, KeptFile>();
  #set: { readonly values: SetValues; readonly depth: UsageDepth; readonly untilMs: number } | undefined;

  constructor(path: string, trees: CgroupTrees) {
    this.#path = path;
    this.#trees = trees;
  }

  read(controller: string, file: string): string | undefined {
    return this.readAs(asText, controller, file);
  }

  readAs<T>(form: FileForm<T>, controller: string, file: string): T | undefined {
    const kept = this.#often.get(file);
    if (kept !== undefined) return kept.read(form);
    const { roots, files } = this.#trees;
    const root = roots.get(controller);
    if (root === undefined) return undefined;
    const path = `${root}${this.#path}/${file}`;
    if (files === undefined || !oftenRead.has(file)) return readPseudoFileAs(form, path);
    const often = files.file(path);
    this.#often.set(file, often);
    return often.read(form);
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
