import { closeSync, constants, existsSync, mkdirSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { TubeletError, type ErrorKind } from '../base/errors.ts';
import type { CgroupSetting, CgroupVersion } from '../model/cgroup-values.ts';
import { cgroupHierarchies, cgroupProcesses, removeCgroup, requirePath } from './pod-cgroups.ts';
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

/** What pods are limited in. Other controllers belong to the programs that use them. */
const usedControllers = ['cpu', 'cpuset', 'memory', 'hugetlb', 'pids'] as const;
/** The trees of version 1 in which a cgroup must exist to count as whole: runtimes are certain to know only these. */
const countedTrees = new Set<string>([...usedControllers, 'cpuacct', 'name=systemd']);

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

  /** Where the cgroup is: in all trees that count, in some, in none. The root is always there. */
  presence(path: string): 'whole' | 'partly' | 'none' {
    let there = 0;
    for (const { root } of this.#counted) if (existsSync(join(root, path))) there++;
    if (there === 0) return 'none';
    return there === this.#counted.length ? 'whole' : 'partly';
  }

  /** Makes the cgroup with all above it that are not there yet. */
  make(path: string): void {
    requirePath(path);
    for (const tree of this.#trees) {
      let directory = tree.root;
      for (const part of path.slice(1).split('/')) {
        if (tree.version === 2) this.#enableBelow(directory);
        directory = join(directory, part);
        this.#makeDirectory(directory);
        if (tree.controllers.includes('cpuset')) fillCpuset(directory);
      }
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

  #makeDirectory(directory: string): void {
    if (existsSync(directory)) return;
    try {
      (this.#options.makeDirectory ?? mkdirSync)(directory);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw failure(error, `cannot make cgroup ${directory}`);
    }
  }

  /** On version 2 a cgroup hands controllers down one by one, and only when it has no processes of its own. */
  #enableBelow(directory: string): void {
    const enabled = wordsIn(join(directory, 'cgroup.subtree_control'));
    const available = wordsIn(join(directory, 'cgroup.controllers'));
    for (const name of usedControllers) {
      if (enabled.includes(name) || !available.includes(name)) continue;
      const what = `cannot enable controller ${name} for the cgroups below ${directory}`;
      try {
        writeInto(join(directory, 'cgroup.subtree_control'), `+${name}`);
      } catch (error) {
        const why = codeOf(error) === 'EBUSY' ? ': processes live in that cgroup itself, move them to one below' : '';
        throw failure(error, what + why);
      }
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

/** Never makes a file: a setting that the kernel does not offer must not appear as if it had been applied. */
function writeInto(path: string, text: string): void {
  const file = openSync(path, constants.O_WRONLY | constants.O_TRUNC);
  try {
    writeSync(file, text);
  } finally {
    closeSync(file);
  }
}

/** Without the line end; nothing when the file or the whole cgroup is not there. */
function textIn(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trimEnd();
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENODEV') return undefined;
    throw failure(error, `cannot read ${path}`);
  }
}

const wordsIn = (path: string): readonly string[] => (textIn(path) ?? '').split(' ').filter((word) => word !== '');

function foldersIn(directory: string): readonly string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw failure(error, `cannot list ${directory}`);
  }
}

const kinds: Readonly<Record<string, ErrorKind>> = {
  EACCES: 'denied',
  EPERM: 'denied',
  EROFS: 'denied',
  EBUSY: 'conflict',
  EINVAL: 'invalid',
  ERANGE: 'invalid',
  ENOENT: 'unsupported',
  ENODEV: 'notFound',
  ENOSPC: 'exhausted',
};

function failure(error: unknown, what: string): TubeletError {
  const code = codeOf(error) ?? '';
  return new TubeletError(kinds[code] ?? 'internal', `${what}: ${code || String(error)}`, { cause: error });
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
