import { existsSync, mkdirSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';
import type { CgroupMissing } from '../model/cgroup-missing.ts';
import type { CgroupSetting, CgroupVersion } from '../model/cgroup-values.ts';
import { enableControllers, requireDomain, usedControllers } from './cgroup-controllers.ts';
import { codeOf, failure, foldersIn, textIn, wordsIn, writeInto } from './cgroup-files.ts';
import { busyCgroups, cgroupHierarchies, cgroupProcesses, removeCgroup, requirePath } from './pod-cgroups.ts';
import type { CgroupHierarchy, CgroupRemoval } from './pod-cgroups.ts';

export interface HostCgroupsOptions {
  readonly version: CgroupVersion;
  readonly clock: Clock;
  readonly hierarchies?: readonly CgroupHierarchy[];
  readonly makeDirectory?: (path: string) => void;
  readonly kill?: (pid: number) => void;
}

/** `processes` were killed on the way. */
type CgroupEnd = CgroupRemoval & { readonly processes: readonly number[] };

interface CgroupKill {
  readonly busy: readonly string[];
  readonly processes: readonly number[];
}

/** The tree of version 1 in which systemd keeps its units; it makes the cgroups there itself. */
const systemdTree = 'name=systemd';
/** The trees of version 1 in which a cgroup must exist to count as whole: runtimes are certain to know only these. */
const countedTrees = new Set<string>([...usedControllers, 'cpuacct', systemdTree]);

const removalTries = 5;
const firstPauseMs = 10;

/**
 * Cgroups by their path, in every tree at once: one tree on version 2, one for each mounted controller on version 1. On
 * a hybrid machine pods live in the trees of version 1, as the runtime has it; removal includes the other one too.
 */
export class HostCgroups {
  readonly version: CgroupVersion;
  /** The controllers that can be used here. */
  readonly controllers: ReadonlySet<string>;
  readonly #options: HostCgroupsOptions;
  readonly #all: readonly CgroupHierarchy[];
  readonly #trees: readonly CgroupHierarchy[];
  /** Those of them that a pod's cgroup has to be in. */
  readonly #counted: readonly CgroupHierarchy[];

  private constructor(
    options: HostCgroupsOptions,
    hierarchies: readonly CgroupHierarchy[],
    controllers: ReadonlySet<string>,
  ) {
    this.version = options.version;
    this.controllers = controllers;
    this.#options = options;
    this.#all = hierarchies;
    this.#trees = treesOf(options.version, hierarchies);
    this.#counted = this.#trees.filter(
      (tree) => tree.version === 2 || tree.controllers.some((name) => countedTrees.has(name)),
    );
  }

  /** Reads the table of mounts. */
  static open(options: HostCgroupsOptions): HostCgroups {
    const hierarchies = options.hierarchies ?? cgroupHierarchies();
    const controllers = treesOf(options.version, hierarchies).flatMap((tree) =>
      tree.version === 1 ? tree.controllers : wordsIn(join(tree.root, 'cgroup.controllers')),
    );
    return new HostCgroups(options, hierarchies, new Set(controllers));
  }

  /** What the cgroup lacks to count as there; undefined when it lacks nothing. The root is always there. */
  missing(path: string): CgroupMissing | undefined {
    return this.version === 1 ? this.#missingTrees(path) : this.#missingControllers(path);
  }

  /**
   * Makes the cgroup with all above it that are not there yet, or nothing. `besideSystemd`: systemd has made it in its own
   * tree of version 1 already.
   */
  make(path: string, { besideSystemd = false }: { readonly besideSystemd?: boolean } = {}): void {
    requirePath(path);
    const made: string[] = [];
    try {
      for (const tree of this.#trees) {
        if (!besideSystemd || !tree.controllers.includes(systemdTree)) this.#makeIn(tree, path, made);
      }
    } catch (error) {
      for (const directory of made.toReversed()) removeAgain(directory);
      throw error;
    }
  }

  /** Writes what differs. What the kernel refuses is tried again after the rest: limits depend on one another. */
  write(path: string, settings: readonly CgroupSetting[]): void {
    requirePath(path);
    const refused = settings.filter((setting) => !this.#set(path, setting, 'first'));
    for (const setting of refused) this.#set(path, setting, 'last');
  }

  /** The contents of a file of the cgroup; undefined when there is no such file. */
  read(path: string, controller: string, file: string): string | undefined {
    const tree = this.#treeOf(controller);
    return tree === undefined ? undefined : textIn(join(tree.root, path, file));
  }

  /** The names of the cgroups directly below. */
  children(path: string): readonly string[] {
    const names = this.#all.flatMap(({ root }) => foldersIn(join(root, path)));
    return [...new Set(names)];
  }

  /** Kills the processes that still run in the cgroup or below it. `busy` names the cgroups in which some are left. */
  async kill(path: string): Promise<CgroupKill> {
    const killed = new Set<number>();
    for (let attempt = 1; ; attempt++) {
      for (const pid of cgroupProcesses(path, this.#all)) if (this.#kill(pid)) killed.add(pid);
      const busy = busyCgroups(path, this.#all);
      if (busy.length === 0 || attempt === removalTries) return { busy, processes: [...killed] };
      await this.#options.clock.sleep(firstPauseMs * 2 ** (attempt - 1));
    }
  }

  /** Kills the processes that still run in the cgroup, and removes it with those below it. */
  async remove(path: string): Promise<CgroupEnd> {
    const killed = new Set<number>();
    for (let attempt = 1; ; attempt++) {
      // Read anew in each round: a process that is about to be killed may have had children.
      for (const pid of cgroupProcesses(path, this.#all)) if (this.#kill(pid)) killed.add(pid);
      const removal = await removeCgroup(path, this.#all);
      if (removal.removed || attempt === removalTries) return { ...removal, processes: [...killed] };
      // A killed process stays in its cgroup until the kernel has reaped it.
      await this.#options.clock.sleep(firstPauseMs * 2 ** (attempt - 1));
    }
  }

  /**
   * Answers false when the process must not be killed or has ended. The kernel shows one of a foreign namespace as 0.
   */
  #kill(pid: number): boolean {
    if (!(pid > 1) || pid === process.pid) return false;
    try {
      (this.#options.kill ?? ((target) => process.kill(target, 'SIGKILL')))(pid);
      return true;
    } catch (error) {
      if (codeOf(error) === 'ESRCH') return false;
      throw failure(error, `cannot kill process ${pid}`);
    }
  }

  #missingTrees(path: string): CgroupMissing | undefined {
    const paths = this.#counted.map(({ root }) => join(root, path)).filter((directory) => !existsSync(directory));
    return paths.length === 0 ? undefined : { what: 'paths', names: paths };
  }

  /** A cgroup without a controller that the root has cannot limit what is in it. */
  #missingControllers(path: string): CgroupMissing | undefined {
    const wanted = usedControllers.filter((name) => this.controllers.has(name));
    const found = textIn(join(this.#trees[0]?.root ?? '', path, 'cgroup.controllers'));
    if (found === undefined) return { what: 'cgroup', names: [] };
    const there = new Set(found.split(' '));
    const names = wanted.filter((name) => !there.has(name)).toSorted();
    return names.length === 0 ? undefined : { what: 'controllers', names };
  }

  #makeIn(tree: CgroupHierarchy, path: string, made: string[]): void {
    let directory = tree.root;
    for (const part of path.slice(1).split('/')) {
      if (tree.version === 2) enableControllers(directory);
      directory = join(directory, part);
      if (this.#makeDirectory(directory)) made.push(directory);
      if (tree.controllers.includes('cpuset')) fillCpuset(directory);
    }
    if (tree.version === 2) requireDomain(directory);
  }

  /** Answers false when it is there already. */
  #makeDirectory(directory: string): boolean {
    if (existsSync(directory)) return false;
    try {
      (this.#options.makeDirectory ?? mkdirSync)(directory);
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw failure(error, `cannot make cgroup ${directory}`);
    }
  }

  /** Answers false when it may succeed later. */
  #set(path: string, { controller, file, value, optional }: CgroupSetting, turn: 'first' | 'last'): boolean {
    const tree = this.#treeOf(controller);
    const full = tree === undefined ? undefined : join(tree.root, path, file);
    const present = full === undefined ? undefined : textIn(full);
    if (present === value || (present === undefined && optional === true)) return true;
    if (full === undefined) throw new TubeletError('unsupported', `no cgroup controller ${controller} to set ${file}`);
    try {
      writeInto(full, value);
      return true;
    } catch (error) {
      const code = codeOf(error);
      if (turn === 'first' && (code === 'EINVAL' || code === 'EBUSY')) return false;
      const inUse = code === 'EBUSY' && controller === 'memory' ? `: ${this.#usage(path)} bytes are in use` : '';
      throw failure(error, `cannot write ${value} to ${full}${inUse}`);
    }
  }

  #usage(path: string): string {
    const file = this.version === 1 ? 'memory.usage_in_bytes' : 'memory.current';
    return this.read(path, 'memory', file) ?? 'some';
  }

  #treeOf(controller: string): CgroupHierarchy | undefined {
    if (this.version === 2) return this.controllers.has(controller) ? this.#trees[0] : undefined;
    return this.#trees.find(({ controllers }) => controllers.includes(controller));
  }
}

/** What another program has put into it in the meantime keeps it. */
function removeAgain(directory: string): void {
  try {
    rmdirSync(directory);
  } catch (error) {
    if (!['EBUSY', 'ENOTEMPTY', 'ENOENT'].includes(codeOf(error) ?? ''))
      throw failure(error, `cannot remove ${directory}`);
  }
}

const treesOf = (wanted: CgroupVersion, all: readonly CgroupHierarchy[]): readonly CgroupHierarchy[] =>
  all.filter(({ version }) => version === wanted);

/** On version 1 a new cpuset takes no process before its CPUs and memory are set: copies those of the cgroup above. */
function fillCpuset(directory: string): void {
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    if (textIn(join(directory, file)) !== '') continue;
    const above = textIn(join(dirname(directory), file)) ?? '';
    try {
      writeInto(join(directory, file), above);
    } catch (error) {
      throw failure(error, `cannot write ${above} to ${join(directory, file)}`);
    }
  }
}
