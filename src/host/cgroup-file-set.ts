import type { Clock } from '../base/clock.ts';
import type { UsageLimits } from '../model/usage.ts';
import type { CachedFile, OpenFileCache } from './open-file-cache.ts';
import { readPseudoFile } from './proc-usage-file.ts';

/** How much of a cgroup is read: `core` for summaries, or everything, which costs three times as much. */
export type UsageDepth = 'core' | 'everything';

/** Settings that seldom change, so that they need not be read each time. */
export interface SetValues {
  readonly limits: UsageLimits;
  /** 0 for any number. */
  readonly threadsMax: number | undefined;
}

/** The source of usage values. */
export interface CgroupFiles {
  /** The text of one file, in the tree of a controller, the empty name on version 2; undefined where there is none. */
  read(controller: string, file: string): string | undefined;
  /** The cached settings, if all that this depth wants is known and new enough. */
  valuesSet(depth: UsageDepth): SetValues | undefined;
  /** Caches the settings for a while. */
  keepValues(depth: UsageDepth, values: SetValues): SetValues;
}

export interface CgroupTrees {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Where the tree of a controller is mounted; that of version 2 under the empty name. */
  readonly roots: ReadonlyMap<string, string>;
  /** Keeps files open that are read for every page. */
  readonly files: OpenFileCache | undefined;
}

/** Settings are a third of all files, so they are not read for every page. */
const valuesKeepMs = 60_000;
/** The files of every page, in both versions. */
const oftenRead = new Set([
  'cpuacct.usage',
  'memory.usage_in_bytes',
  'memory.stat',
  'cpu.stat',
  'memory.current',
  'cgroup.procs',
]);

/** The files of a cgroup that is read again and again. */
export class CgroupFileSet implements CgroupFiles {
  readonly #path: string;
  readonly #trees: CgroupTrees;
  /** Files that are read often, by name. */
  readonly #often = new Map<string, CachedFile>();
  #set: { readonly values: SetValues; readonly depth: UsageDepth; readonly untilMs: number } | undefined;

  constructor(path: string, trees: CgroupTrees) {
    this.#path = path;
    this.#trees = trees;
  }

  read(controller: string, file: string): string | undefined {
    const kept = this.#often.get(file);
    if (kept !== undefined) return kept.read();
    const { roots, files } = this.#trees;
    const root = roots.get(controller);
    if (root === undefined) return undefined;
    const path = `${root}${this.#path}/${file}`;
    if (files === undefined || !oftenRead.has(file)) return readPseudoFile(path);
    const often = files.file(path);
    this.#often.set(file, often);
    return often.read();
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
