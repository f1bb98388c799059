import type { CgroupUsage, CpuUsage, DeviceUsage, MemoryUsage, ProcessUsage, UsageLimits } from '../model/usage.ts';
import { blkio, fieldOf, keyValuesOf, limitOf, numberOf } from './cgroup-usage-text.ts';
import type { CgroupFiles, SetValues, UsageDepth } from './cgroup-file-set.ts';

/** The part of a usage that the files of a cgroup contain. */
export type TreeUsage = Omit<CgroupUsage, 'path' | 'at' | 'createdAt'>;

export interface UsageOptions {
  readonly depth: UsageDepth;
  /** Names of block devices by their numbers. */
  readonly devices: ReadonlyMap<string, string>;
  /** How many processes the cgroup has, where everything is read. */
  readonly processes: number | undefined;
}

/** The kernel counts user and system time in hundredths of a second, independent of the machine's own tick. */
const nanosPerTick = 1e7;

/** Usage from the trees of version 1; undefined where none of them has the cgroup. */
export function usageVersion1(cgroup: CgroupFiles, options: UsageOptions): TreeUsage | undefined {
  const { depth, devices, processes } = options;
  const totalNs = numberOf(cgroup.read('cpuacct', 'cpuacct.usage'));
  const memoryBytes = numberOf(cgroup.read('memory', 'memory.usage_in_bytes'));
  if (totalNs === undefined && memoryBytes === undefined) return undefined;
  const { limits, threadsMax } = cgroup.valuesSet(depth) ?? cgroup.keepValues(depth, setVersion1(cgroup, depth));
  const memory = memoryBytes === undefined ? undefined : memoryUsage(cgroup, memoryBytes);
  if (depth === 'core') {
    const cpu = totalNs === undefined ? undefined : { totalNs, userNs: 0, systemNs: 0 };
    return { cpu, memory, processes: undefined, devices: noDevices, pressure: noPressure, limits };
  }
  const bytes = cgroup.read('blkio', 'blkio.throttle.io_service_bytes_recursive');
  return {
    cpu: totalNs === undefined ? undefined : cpuUsage(cgroup, totalNs, limits),
    memory: memory && { ...memory, ...otherMemory(cgroup, limits, processes) },
    processes: processUsage(processes, cgroup.read('pids', 'pids.current'), threadsMax),
    // A device without bytes had no operations either.
    devices:
      bytes === noBytes
        ? noDevices
        : blkio(bytes, cgroup.read('blkio', 'blkio.throttle.io_serviced_recursive'), devices),
    pressure: noPressure,
    limits,
  };
}

const noBytes = 'Total 0\n';
/** One empty list shared by all cgroups without devices. */
export const noDevices: readonly DeviceUsage[] = [];
export const noPressure: CgroupUsage['pressure'] = {};

/** Only a quota can throttle. */
function cpuUsage(cgroup: CgroupFiles, totalNs: number, { cpuQuotaUs }: UsageLimits): CpuUsage {
  const split = cgroup.read('cpuacct', 'cpuacct.stat') ?? '';
  const throttling = cpuQuotaUs === undefined ? undefined : cgroup.read('cpu', 'cpu.stat');
  return {
    totalNs,
    userNs: (fieldOf(split, 'user') ?? 0) * nanosPerTick,
    systemNs: (fieldOf(split, 'system') ?? 0) * nanosPerTick,
    ...(throttling !== undefined && {
      throttling: {
        periods: fieldOf(throttling, 'nr_periods') ?? 0,
        throttledPeriods: fieldOf(throttling, 'nr_throttled') ?? 0,
        throttledNs: fieldOf(throttling, 'throttled_time') ?? 0,
      },
    }),
  };
}

function memoryUsage(cgroup: CgroupFiles, usage: number): MemoryUsage | undefined {
  const text = cgroup.read('memory', 'memory.stat');
  if (text === undefined) return undefined;
  const stat = keyValuesOf(text);
  const inactiveFile = withAllBelow(stat, 'inactive_file');
  return {
    usage,
    maxUsage: undefined,
    workingSet: Math.max(usage - inactiveFile, 0),
    rss: withAllBelow(stat, 'rss'),
    cache: withAllBelow(stat, 'cache'),
    mappedFile: withAllBelow(stat, 'mapped_file'),
    swap: withAllBelow(stat, 'swap'),
    kernel: 0,
    activeFile: withAllBelow(stat, 'active_file'),
    inactiveFile,
    failures: 0,
    faults: {
      own: { minor: stat.get('pgfault') ?? 0, major: stat.get('pgmajfault') ?? 0 },
      all: {
        minor: withAllBelow(stat, 'pgfault'),
        major: withAllBelow(stat, 'pgmajfault'),
      },
    },
    oomEvents: undefined,
  };
}

/** A kernel that does not count the cgroups below counts the cgroup alone. */
function withAllBelow(stat: ReadonlyMap<string, number>, key: string): number {
  return stat.get(`total_${key}`) ?? stat.get(key) ?? 0;
}

/** Without a limit it cannot be reached; without processes none can be killed. */
function otherMemory(cgroup: CgroupFiles, limits: UsageLimits, processes: number | undefined): Partial<MemoryUsage> {
  const failures = limits.memory === undefined ? 0 : (numberOf(cgroup.read('memory', 'memory.failcnt')) ?? 0);
  const oom = processes === 0 ? undefined : cgroup.read('memory', 'memory.oom_control');
  return {
    maxUsage: numberOf(cgroup.read('memory', 'memory.max_usage_in_bytes')),
    kernel: numberOf(cgroup.read('memory', 'memory.kmem.usage_in_bytes')) ?? 0,
    failures,
    oomEvents: processes === 0 ? 0 : fieldOf(oom ?? '', 'oom_kill'),
  };
}

/** Version 1 limits memory and swap together; the difference is what swap alone may be. */
function setVersion1(cgroup: CgroupFiles, depth: UsageDepth): SetValues {
  const memory = limitOf(cgroup.read('memory', 'memory.limit_in_bytes'));
  const both = memory === undefined ? undefined : limitOf(cgroup.read('memory', 'memory.memsw.limit_in_bytes'));
  const whole = depth === 'everything';
  return {
    limits: {
      cpuShares: whole ? numberOf(cgroup.read('cpu', 'cpu.shares')) : undefined,
      cpuQuotaUs: whole ? numberOf(cgroup.read('cpu', 'cpu.cfs_quota_us')) : undefined,
      cpuPeriodUs: whole ? numberOf(cgroup.read('cpu', 'cpu.cfs_period_us')) : undefined,
      memory,
      memorySwap: memory === undefined || both === undefined ? undefined : Math.max(both - memory, 0),
      memoryReservation: whole ? limitOf(cgroup.read('memory', 'memory.soft_limit_in_bytes')) : undefined,
    },
    threadsMax: whole ? threadsLimit(cgroup.read('pids', 'pids.max')) : undefined,
  };
}

/** Reports "no limit of threads" as 0. */
export function threadsLimit(text: string | undefined): number | undefined {
  return text === undefined ? undefined : (numberOf(text) ?? 0);
}

export function processUsage(
  processes: number | undefined,
  threads: string | undefined,
  threadsMax: number | undefined,
): ProcessUsage | undefined {
  if (processes === undefined) return undefined;
  return {
    processes,
    threads: numberOf(threads),
    threadsMax,
    fileDescriptors: undefined,
    sockets: undefined,
    openFilesSoftLimit: undefined,
  };
}
