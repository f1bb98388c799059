import { statSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import type { CgroupVersion } from '../model/cgroup-values.ts';
import type { CgroupUsage } from '../model/usage.ts';
import { noDevices, noPressure, usageVersion1, type TreeUsage, type UsageOptions } from './cgroup-usage-v1.ts';
import { usageVersion2 } from './cgroup-usage-v2.ts';
import { processIdsOf } from './cgroup-usage-text.ts';
import type { OpenFileCache } from './open-file-cache.ts';
import { CgroupFileSet, type CgroupTrees, type UsageDepth } from './cgroup-file-set.ts';
import { cgroupHierarchies, type CgroupHierarchy } from './pod-cgroups.ts';
import { readOptional } from './proc-usage-file.ts';
import { HostProcessFiles } from './proc-usage-files.ts';
import { HostProcUsage } from './proc-usage.ts';

interface HostCgroupUsageOptions {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly version: CgroupVersion;
  /** Whether pressure is read, which costs three files for each cgroup. */
  readonly pressure: boolean;
  /** Keeps files open that are read for every page. */
  readonly files?: OpenFileCache;
  readonly hierarchies?: readonly CgroupHierarchy[];
  readonly proc?: string;
}

const noNames: ReadonlyMap<string, string> = new Map();
/** As many cgroups as a thousand pods have. */
const maxKnown = 4_096;

/** What cgroups use, by their path: from one tree on version 2, from those of their controllers on version 1. */
export class HostCgroupUsage {
  readonly #options: HostCgroupUsageOptions;
  readonly #proc: HostProcUsage;
  readonly #files: HostProcessFiles;
  readonly #trees: CgroupTrees;
  /** A tree that every cgroup with processes is in: its controller, and where it is mounted. */
  readonly #anyTree: string;
  readonly #anyRoot: string;
  readonly #known = new Map<string, CgroupFileSet>();
  #devices: ReadonlyMap<string, string> = noNames;

  private constructor(options: HostCgroupUsageOptions, roots: ReadonlyMap<string, string>) {
    const { clock, proc } = options;
    this.#options = options;
    this.#proc = new HostProcUsage(proc);
    this.#files = new HostProcessFiles({ clock, ...(proc !== undefined && { proc }) });
    this.#anyTree = ['', 'memory', 'cpuacct'].find((controller) => roots.has(controller)) ?? '';
    this.#anyRoot = roots.get(this.#anyTree) ?? '/sys/fs/cgroup';
    this.#trees = { clock, files: options.files, roots: new Map([[this.#anyTree, this.#anyRoot], ...roots]) };
  }

  /** Reads the table of mounts. */
  static open(options: HostCgroupUsageOptions): HostCgroupUsage {
    const trees = (options.hierarchies ?? cgroupHierarchies()).filter(({ version }) => version === options.version);
    const roots = trees.flatMap(({ version, root, controllers }) =>
      version === 2 ? [['', root] as const] : controllers.map((name) => [name, root] as const),
    );
    return new HostCgroupUsage(options, new Map(roots));
  }

  /** Starts a page with all cgroups: what is the same for all of them is read once. */
  begin(): void {
    this.#devices = this.#proc.blockDevices();
    this.#files.begin();
  }

  /**
   * Undefined when there is no such cgroup. At depth `core` what only `everything` reads is undefined, empty or 0. When
   * the cgroup was made is left to `createdAt`: most callers know it better than the kernel.
   */
  read(path: string, depth: UsageDepth): CgroupUsage | undefined {
    const at = this.#options.clock.now();
    const pids = depth === 'core' ? undefined : this.processes(path);
    const tree = this.#readTree(path, depth, pids?.length);
    if (tree === undefined) return undefined;
    const { cpu, memory, devices, pressure, limits } = tree;
    let { processes } = tree;
    if (pids !== undefined && processes !== undefined) {
      const openFiles = pids.length === 0 ? { fileDescriptors: 0, sockets: 0 } : this.#files.of(path, pids);
      processes = { ...processes, ...openFiles };
    }
    return { path, at, createdAt: undefined, cpu, memory, processes, devices, pressure, limits };
  }

  /**
   * The processes of the cgroup itself, without those of cgroups below it; but crun leaves a scope to systemd, and keeps the
   * processes of its container in a cgroup below.
   */
  processes(path: string): readonly number[] {
    const own = this.#processesIn(path);
    return own.length === 0 && path.endsWith('.scope') ? this.#processesIn(`${path}/container`) : own;
  }

  #processesIn(path: string): readonly number[] {
    return processIdsOf(this.#cgroup(path).read(this.#anyTree, 'cgroup.procs') ?? '');
  }

  /** When the cgroup was made, as far as the kernel remembers. */
  createdAt(path: string): number | undefined {
    if (path === '/') return this.#proc.bootTime();
    const folder = `${this.#anyRoot}${path}`;
    return readOptional(() => Math.round(statSync(folder).mtimeMs), folder);
  }

  /** Closes all files until the next reading. */
  close(): void {
    this.#options.files?.close();
  }

  #cgroup(path: string): CgroupFileSet {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    // Cgroups come and go; removed ones are never asked for again.
    if (this.#known.size >= maxKnown) this.#known.clear();
    const cgroup = new CgroupFileSet(path, this.#trees);
    this.#known.set(path, cgroup);
    return cgroup;
  }

  #readTree(path: string, depth: UsageDepth, processes: number | undefined): TreeUsage | undefined {
    const isRoot = path === '/';
    const cgroup = this.#cgroup(path);
    const options = { depth, devices: this.#devices, processes };
    const usage =
      this.#options.version === 1 ? usageVersion1(cgroup, options) : this.#version2(cgroup, options, isRoot);
    if (!isRoot) return usage;
    // Not every kernel counts everything for the root: the numbers of the machine take its place.
    const known = usage ?? nothing;
    return {
      ...known,
      cpu: known.cpu ?? this.#proc.cpu(),
      memory: known.memory ?? this.#proc.memoryUsage(),
      pressure: this.#options.pressure ? this.#proc.pressure() : noPressure,
    };
  }

  #version2(cgroup: CgroupFileSet, options: UsageOptions, isRoot: boolean): TreeUsage | undefined {
    const machine = isRoot ? this.#proc.memory() : undefined;
    return usageVersion2(cgroup, {
      ...options,
      pressure: this.#options.pressure && !isRoot,
      root: machine && { usage: machine.total - machine.free, swap: machine.swapTotal - machine.swapFree },
    });
  }
}

const nothing: TreeUsage = {
  cpu: undefined,
  memory: undefined,
  processes: undefined,
  devices: noDevices,
  pressure: noPressure,
  limits: {
    cpuShares: undefined,
    cpuQuotaUs: undefined,
    cpuPeriodUs: undefined,
    memory: undefined,
    memorySwap: undefined,
    memoryReservation: undefined,
  },
};
