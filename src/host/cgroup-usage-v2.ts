import type { CgroupUsage, CpuUsage, MemoryUsage } from '../model/usage.ts';
import { fieldOf, ioStat, limitOf, numberOf, pressureOf } from './cgroup-usage-text.ts';
import { processUsage, threadsLimit, type SetValues, type TreeUsage, type UsageOptions } from './cgroup-usage-v1.ts';

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

/** Reads one file of the cgroup; undefined where there is none. */
type ReadFile = (file: string) => string | undefined;

const nanosPerMicro = 1_000;

/** What the tree of version 2 tells; undefined where it has no such cgroup. */
export function usageVersion2(read: ReadFile, options: Version2Options): TreeUsage | undefined {
  const { depth, pressure, devices, processes, root } = options;
  const cpu = cpuUsage(read('cpu.stat'));
  const whole = depth === 'everything';
  const memory = memoryUsage(read, whole, root);
  if (cpu === undefined && memory === undefined) return undefined;
  const { limits, threadsMax } = options.setValues(() => setVersion2(read, whole));
  return {
    cpu,
    memory,
    processes: whole ? processUsage(processes, read('pids.current'), threadsMax) : undefined,
    devices: whole ? ioStat(read('io.stat'), devices) : [],
    pressure: pressure ? pressures(read) : {},
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

function memoryUsage(read: ReadFile, whole: boolean, root: RootMemory | undefined): MemoryUsage | undefined {
  const usage = numberOf(read('memory.current')) ?? root?.usage;
  const stat = usage === undefined ? undefined : read('memory.stat');
  if (usage === undefined || stat === undefined) return undefined;
  const field = (key: string): number => fieldOf(stat, key) ?? 0;
  const events = whole ? (read('memory.events') ?? '') : '';
  const inactiveFile = field('inactive_file');
  // Faults of a cgroup are counted with those of all below it.
  const faults = { minor: field('pgfault'), major: field('pgmajfault') };
  return {
    usage,
    maxUsage: whole ? numberOf(read('memory.peak')) : undefined,
    workingSet: Math.max(usage - inactiveFile, 0),
    rss: field('anon'),
    cache: field('file'),
    mappedFile: field('file_mapped'),
    swap: root?.swap ?? numberOf(read('memory.swap.current')) ?? 0,
    kernel: fieldOf(stat, 'kernel') ?? field('kernel_stack') + field('pagetables') + field('slab') + field('sock'),
    activeFile: field('active_file'),
    inactiveFile,
    failures: fieldOf(events, 'max') ?? 0,
    faults: { own: faults, all: faults },
    oomEvents: fieldOf(events, 'oom_kill'),
  };
}

function pressures(read: ReadFile): CgroupUsage['pressure'] {
  const [cpu, memory, io] = [
    pressureOf(read('cpu.pressure')),
    pressureOf(read('memory.pressure')),
    pressureOf(read('io.pressure')),
  ];
  return { ...(cpu && { cpu }), ...(memory && { memory }), ...(io && { io }) };
}

function setVersion2(read: ReadFile, whole: boolean): SetValues {
  const weight = whole ? numberOf(read('cpu.weight')) : undefined;
  const [quota, period] = whole ? (read('cpu.max') ?? '').split(' ') : [];
  return {
    limits: {
      cpuShares: weight === undefined ? undefined : sharesOfWeight(weight),
      cpuQuotaUs: numberOf(quota),
      cpuPeriodUs: numberOf(period),
      memory: limitOf(read('memory.max')),
      memorySwap: limitOf(read('memory.swap.max')),
      memoryReservation: whole ? limitOf(read('memory.high')) : undefined,
    },
    threadsMax: whole ? threadsLimit(read('pids.max')) : undefined,
  };
}

/** The weight in the unit of version 1, which is what everybody reads: 1…10,000 onto 2…262,144. */
function sharesOfWeight(weight: number): number {
  return Math.floor(2 + ((weight - 1) * 262_142) / 9_999);
}
