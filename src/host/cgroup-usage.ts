import { statSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import type { CgroupVersion } from '../model/cgroup-values.ts';
import type { CgroupUsage } from '../model/usage.ts';
import { pidsIn } from './cgroup-usage-text.ts';
import {
  usageVersion1,
  type SetValues,
  type TreeUsage,
  type UsageDepth,
  type UsageOptions,
} from './cgroup-usage-v1.ts';
import { usageVersion2 } from './cgroup-usage-v2.ts';
import type { KeptFiles } from './kept-files.ts';
import { cgroupHierarchies, type CgroupHierarchy } from './pod-cgroups.ts';
import { readPseudoFile, told } from './proc-usage-file.ts';
import { HostProcessFiles } from './proc-usage-files.ts';
import { HostProcUsage } from './proc-usage.ts';

export interface HostCgroupUsageOptions {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly version: CgroupVersion;
  /** Whether pressure is read, which costs three files for each cgroup. */
  readonly pressure: boolean;
  /** Keeps what is read for every page open. */
  readonly files?: KeptFiles;
  readonly hierarchies?: readonly CgroupHierarchy[];
  readonly proc?: string;
}

const noDevices: ReadonlyMap<string, string> = new Map();
/** What is set changes seldom and is a third of all files, so it is not read for every page. */
const valuesKeepMs = 60_000;
const mostKept = 10_000;
/** What every page is made of, in both versions. */
const oftenRead = new Set([
  'cpuacct.usage',
  'memory.usage_in_bytes',
  'memory.stat',
  'cpu.stat',
  'memory.current',
  'cgroup.procs',
]);

interface KeptValues {
  readonly values: SetValues;
  readonly depth: UsageDepth;
  readonly untilMs: number;
}

/** What cgroups use, by their path: from one tree on version 2, from those of their controllers on version 1. */
export class HostCgroupUsage {
  readonly #options: HostCgroupUsageOptions;
  readonly #proc: HostProcUsage;
  readonly #files: HostProcessFiles;
  /** Where the tree of a controller is mounted; that of version 2 under the empty name. */
  readonly #roots: ReadonlyMap<string, string>;
  /** A tree that every cgroup with processes is in. */
  readonly #anyRoot: string;
  readonly #values = new Map<string, KeptValues>();
  #devices: ReadonlyMap<string, string> = noDevices;

  private constructor(options: HostCgroupUsageOptions, roots: ReadonlyMap<string, string>) {
    const { clock, proc } = options;
    this.#options = options;
    this.#proc = new HostProcUsage(proc);
    this.#files = new HostProcessFiles({ clock, ...(proc !== undefined && { proc }) });
    this.#roots = roots;
    this.#anyRoot = roots.get('') ?? roots.get('memory') ?? roots.get('cpuacct') ?? '/sys/fs/cgroup';
  }

  /** Looks at what is mounted. */
  static open(options: HostCgroupUsageOptions): HostCgroupUsage {
    const trees = (options.hierarchies ?? cgroupHierarchies()).filter(({ version }) => version === options.version);
    const roots = trees.flatMap(({ version, root, controllers }) =>
      version === 2 ? [['', root] as const] : controllers.map((name) => [name, root] as const),
    );
    return new HostCgroupUsage(options, new Map(roots));
  }

  /** A page that shows everything begins: what is the same for all cgroups is read once. */
  begin(): void {
    this.#devices = this.#proc.blockDevices();
    this.#files.begin();
  }

  /**
   * Undefined when there is no such cgroup. At depth `core` what only `everything` reads is undefined, empty or 0. When the
   * cgroup was made is left to `createdAt`: mostly somebody knows it better than the kernel.
   */
  read(path: string, depth: UsageDepth): CgroupUsage | undefined {
    const at = this.#options.clock.now();
    const pids = depth === 'core' ? undefined : this.processes(path);
    const tree = this.#readTree(path, depth, pids?.length);
    if (tree === undefined) return undefined;
    const usage = { path, at, createdAt: undefined, ...tree };
    if (pids === undefined || tree.processes === undefined) return usage;
    const openFiles = pids.length === 0 ? { fileDescriptors: 0, sockets: 0 } : this.#files.of(path, pids);
    return { ...usage, processes: { ...tree.processes, ...openFiles } };
  }

  /** The processes of the cgroup itself, without those of cgroups below it. */
  processes(path: string): readonly number[] {
    const text = this.#readFile(`${this.#anyRoot}${path}`, 'cgroup.procs');
    return text === undefined || text === '' ? [] : pidsIn(text);
  }

  /** When the cgroup was made, as far as the kernel remembers. */
  createdAt(path: string): number | undefined {
    if (path === '/') return this.#proc.bootTime();
    const folder = `${this.#anyRoot}${path}`;
    return told(() => Math.round(statSync(folder).mtimeMs), folder);
  }

  /** Keeps no file open until the next reading. */
  close(): void {
    this.#options.files?.close();
  }

  #readFile(folder: string, file: string): string | undefined {
    const { files } = this.#options;
    const path = `${folder}/${file}`;
    return files !== undefined && oftenRead.has(file) ? files.read(path) : readPseudoFile(path);
  }

  #readTree(path: string, depth: UsageDepth, processes: number | undefined): TreeUsage | undefined {
    const isRoot = path === '/';
    const setValues = (read: () => SetValues): SetValues => this.#setValues(path, depth, read);
    const options = { depth, devices: this.#devices, processes, setValues };
    const usage = this.#options.version === 1 ? this.#version1(path, options) : this.#version2(path, options, isRoot);
    if (!isRoot) return usage;
    // Not every kernel counts everything for the root: the machine itself is what it would count.
    const known = usage ?? nothing;
    return {
      ...known,
      cpu: known.cpu ?? this.#proc.cpu(),
      memory: known.memory ?? this.#proc.memoryUsage(),
      pressure: this.#options.pressure ? this.#proc.pressure() : {},
    };
  }

  #setValues(path: string, depth: UsageDepth, read: () => SetValues): SetValues {
    const nowMs = this.#options.clock.monotonic();
    const kept = this.#values.get(path);
    const serves = kept !== undefined && (kept.depth === 'everything' || depth === 'core');
    if (serves && nowMs < kept.untilMs) return kept.values;
    const values = read();
    // Cgroups come and go; whoever is gone is never asked about again.
    if (this.#values.size >= mostKept) this.#values.clear();
    this.#values.set(path, { values, depth, untilMs: nowMs + valuesKeepMs });
    return values;
  }

  #version1(path: string, options: UsageOptions): TreeUsage | undefined {
    const roots = this.#roots;
    const read = (controller: string, file: string): string | undefined => {
      const root = roots.get(controller);
      return root === undefined ? undefined : this.#readFile(`${root}${path}`, file);
    };
    return usageVersion1(read, options);
  }

  #version2(path: string, options: UsageOptions, isRoot: boolean): TreeUsage | undefined {
    const folder = `${this.#anyRoot}${path}`;
    const machine = isRoot ? this.#proc.memory() : undefined;
    return usageVersion2((file) => this.#readFile(folder, file), {
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
  devices: [],
  pressure: {},
  limits: {
    cpuShares: undefined,
    cpuQuotaUs: undefined,
    cpuPeriodUs: undefined,
    memory: undefined,
    memorySwap: undefined,
    memoryReservation: undefined,
  },
};
