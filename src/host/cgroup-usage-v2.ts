import type { CgroupUsage, CpuUsage, MemoryUsage } from '../model/usage.ts';
import { fieldOf, ioStat, limitOf, numberOf, pressureOf } from './cgroup-usage-text.ts';
import {
  noDevices,
  noPressure,
  processUsage,
  threadsLimit,
  type TreeUsage,
  type UsageOptions,
} from './cgroup-usage-v1.ts';
import type { CgroupFiles, SetValues } from './known-cgroup.ts';

/** What the machine has, for the root: the kernel does not count memory for it again. */
export interface RootMemory {
  readonly usage: number;
  readonly swap: number;
}

export interface Version2Options extends UsageOptions {
  /** Whether pressure is wanted. */
  readonly pressure: boolean;
  readonly root?: RootMemory | undefined;
}

const nanosPerMicro = 1_000;

/** What the tree of version 2 tells; undefined where it has no such cgroup. */
export function usageVersion2(cgroup: CgroupFiles, options: Version2Options): TreeUsage | undefined {
  const { depth, pressure, devices, processes, root } = options;
  const cpu = cpuUsage(cgroup.read('', 'cpu.stat'));
  const whole = depth === 'everything';
  const memory = memoryUsage(cgroup, whole, root);
  if (cpu === undefined && memory === undefined) return undefined;
  const { limits, threadsMax } = cgroup.valuesSet(depth) ?? cgroup.keepValues(depth, setVersion2(cgroup, whole));
  return {
    cpu,
    memory,
    processes: whole ? processUsage(processes, cgroup.read('', 'pids.current'), threadsMax) : undefined,
    devices: whole ? ioStat(cgroup.read('', 'io.stat'), devices) : noDevices,
    pressure: pressure ? pressures(cgroup) : noPressure,
    limits,
  };
}

function cpuUsage(stat: string | undefined): CpuUsage | undefined {
  const total = stat === undefined ? undefined : fieldOf(stat, 'usage_usec');
  if (stat === undefined || total === undefined) return undefined;
  const periods = fieldOf(stat, 'nr_periods');
  return {
    totalNs: total * nanosPerMicro,
    userNs: (fieldOf(stat, 'user_usec') ?? 0) * nanosPerMicro,
    systemNs: (fieldOf(stat, 'system_usec') ?? 0) * nanosPerMicro,
    ...(periods !== undefined && {
      throttling: {
        periods,
        throttledPeriods: fieldOf(stat, 'nr_throttled') ?? 0,
        throttledNs: (fieldOf(stat, 'throttled_usec') ?? 0) * nanosPerMicro,
      },
    }),
  };
}

function memoryUsage(cgroup: CgroupFiles, whole: boolean, root: RootMemory | undefined): MemoryUsage | undefined {
  const usage = numberOf(cgroup.read('', 'memory.current')) ?? root?.usage;
  const stat = usage === undefined ? undefined : cgroup.read('', 'memory.stat');
  if (usage === undefined || stat === undefined) return undefined;
  const field = (key: string): number => fieldOf(stat, key) ?? 0;
  const events = whole ? (cgroup.read('', 'memory.events') ?? '') : '';
  const inactiveFile = field('inactive_file');
  // Faults of a cgroup are counted with those of all below it.
  const faults = { minor: field('pgfault'), major: field('pgmajfault') };
  return {
    usage,
    maxUsage: whole ? numberOf(cgroup.read('', 'memory.peak')) : undefined,
    workingSet: Math.max(usage - inactiveFile, 0),
    rss: field('anon'),
    cache: field('file'),
    mappedFile: field('file_mapped'),
    swap: root?.swap ?? numberOf(cgroup.read('', 'memory.swap.current')) ?? 0,
    kernel: fieldOf(stat, 'kernel') ?? field('kernel_stack') + field('pagetables') + field('slab') + field('sock'),
    activeFile: field('active_file'),
    inactiveFile,
    failures: fieldOf(events, 'max') ?? 0,
    faults: { own: faults, all: faults },
    oomEvents: fieldOf(events, 'oom_kill'),
  };
}

function pressures(cgroup: CgroupFiles): CgroupUsage['pressure'] {
  const [cpu, memory, io] = [
    pressureOf(cgroup.read('', 'cpu.pressure')),
    pressureOf(cgroup.read('', 'memory.pressure')),
    pressureOf(cgroup.read('', 'io.pressure')),
  ];
  return { ...(cpu && { cpu }), ...(memory && { memory }), ...(io && { io }) };
}

function setVersion2(cgroup: CgroupFiles, whole: boolean): SetValues {
  const weight = whole ? numberOf(cgroup.read('', 'cpu.weight')) : undefined;
  const [quota, period] = whole ? (cgroup.read('', 'cpu.max') ?? '').split(' ') : [];
  return {
    limits: {
      cpuShares: weight === undefined ? undefined : sharesOfWeight(weight),
      cpuQuotaUs: numberOf(quota),
      cpuPeriodUs: numberOf(period),
      memory: limitOf(cgroup.read('', 'memory.max')),
      memorySwap: limitOf(cgroup.read('', 'memory.swap.max')),
      memoryReservation: whole ? limitOf(cgroup.read('', 'memory.high')) : undefined,
    },
    threadsMax: whole ? threadsLimit(cgroup.read('', 'pids.max')) : undefined,
  };
}

/** The weight in the unit of version 1, which is what everybody reads: 1…10,000 onto 2…262,144. */
function sharesOfWeight(weight: number): number {
  return Math.floor(2 + ((weight - 1) * 262_142) / 9_999);
}
