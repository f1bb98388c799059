import type { CgroupUsage, CpuUsage, DeviceUsage, MemoryUsage, ProcessUsage, UsageLimits } from '../model/usage.ts';
import { blkio, fieldOf, limitOf, numberOf } from './cgroup-usage-text.ts';
import { asNumber, KeyValueParser, type KeyValues } from './key-values.ts';
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
  const totalNs = cgroup.readParsed(asNumber, 'cpuacct', 'cpuacct.usage');
  const memoryBytes = cgroup.readParsed(asNumber, 'memory', 'memory.usage_in_bytes');
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

/** Numbers of a cgroup alone, and with all below it. */
const memoryKeys = [
  'cache',
  'rss',
  'mapped_file',
  'swap',
  'pgfault',
  'pgmajfault',
  'inactive_file',
  'active_file',
] as const;
const memoryForm = new KeyValueParser([...memoryKeys, ...memoryKeys.map((key) => `total_${key}` as const)]);
const { places: memoryAt } = memoryForm;

function memoryUsage(cgroup: CgroupFiles, usage: number): MemoryUsage | undefined {
  const stat = cgroup.readParsed(memoryForm, 'memory', 'memory.stat');
  if (stat === undefined) return undefined;
  const inactiveFile = withAllBelow(stat, memoryAt.inactive_file, memoryAt.total_inactive_file);
  return {
    usage,
    maxUsage: undefined,
    workingSet: Math.max(usage - inactiveFile, 0),
    rss: withAllBelow(stat, memoryAt.rss, memoryAt.total_rss),
    cache: withAllBelow(stat, memoryAt.cache, memoryAt.total_cache),
    mappedFile: withAllBelow(stat, memoryAt.mapped_file, memoryAt.total_mapped_file),
    swap: withAllBelow(stat, memoryAt.swap, memoryAt.total_swap),
    kernel: 0,
    activeFile: withAllBelow(stat, memoryAt.active_file, memoryAt.total_active_file),
    inactiveFile,
    failures: 0,
    faults: {
      own: { minor: stat.at(memoryAt.pgfault) ?? 0, major: stat.at(memoryAt.pgmajfault) ?? 0 },
      all: {
        minor: withAllBelow(stat, memoryAt.pgfault, memoryAt.total_pgfault),
        major: withAllBelow(stat, memoryAt.pgmajfault, memoryAt.total_pgmajfault),
      },
    },
    oomEvents: undefined,
  };
}

/** A kernel that does not count the cgroups below counts the cgroup alone. */
function withAllBelow(stat: KeyValues, own: number, total: number): number {
  return stat.at(total) ?? stat.at(own) ?? 0;
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
