import { weightToShares } from '../model/cpu.ts';
import type { CgroupUsage, CpuUsage, MemoryUsage } from '../model/usage.ts';
import { fieldOf, ioStat, keyValuesOf, limitOf, numberOf, pressureOf } from './cgroup-usage-text.ts';
import {
  noDevices,
  noPressure,
  processUsage,
  threadsLimit,
  type TreeUsage,
  type UsageOptions,
} from './cgroup-usage-v1.ts';
import type { CgroupFiles, SetValues } from './cgroup-file-set.ts';

/** Memory of the machine, for the root: the kernel does not count it there a second time. */
interface RootMemory {
  readonly usage: number;
  readonly swap: number;
}

interface Version2Options extends UsageOptions {
  /** Whether pressure is wanted. */
  readonly pressure: boolean;
  readonly root?: RootMemory | undefined;
}

const nanosPerMicro = 1_000;

/** Usage from the tree of version 2; undefined where it has no such cgroup. */
export function usageVersion2(cgroup: CgroupFiles, options: Version2Options): TreeUsage | undefined {
  const { depth, pressure, devices, processes, root } = options;
  const cpu = cpuUsage(cgroup);
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

function cpuUsage(cgroup: CgroupFiles): CpuUsage | undefined {
  const stat = keyValuesOf(cgroup.read('', 'cpu.stat') ?? '');
  const total = stat.get('usage_usec');
  if (total === undefined) return undefined;
  const periods = stat.get('nr_periods');
  return {
    totalNs: total * nanosPerMicro,
    userNs: (stat.get('user_usec') ?? 0) * nanosPerMicro,
    systemNs: (stat.get('system_usec') ?? 0) * nanosPerMicro,
    ...(periods !== undefined && {
      throttling: {
        periods,
        throttledPeriods: stat.get('nr_throttled') ?? 0,
        throttledNs: (stat.get('throttled_usec') ?? 0) * nanosPerMicro,
      },
    }),
  };
}

function memoryUsage(cgroup: CgroupFiles, whole: boolean, root: RootMemory | undefined): MemoryUsage | undefined {
  const usage = numberOf(cgroup.read('', 'memory.current')) ?? root?.usage;
  const text = usage === undefined ? undefined : cgroup.read('', 'memory.stat');
  if (usage === undefined || text === undefined) return undefined;
  const stat = keyValuesOf(text);
  const events = whole ? (cgroup.read('', 'memory.events') ?? '') : '';
  const inactiveFile = stat.get('inactive_file') ?? 0;
  // Faults of a cgroup are counted with those of all below it.
  const faults = { minor: stat.get('pgfault') ?? 0, major: stat.get('pgmajfault') ?? 0 };
  return {
    usage,
    maxUsage: whole ? numberOf(cgroup.read('', 'memory.peak')) : undefined,
    workingSet: Math.max(usage - inactiveFile, 0),
    rss: stat.get('anon') ?? 0,
    cache: stat.get('file') ?? 0,
    mappedFile: stat.get('file_mapped') ?? 0,
    swap: root?.swap ?? numberOf(cgroup.read('', 'memory.swap.current')) ?? 0,
    kernel:
      stat.get('kernel') ??
      (stat.get('kernel_stack') ?? 0) +
        (stat.get('pagetables') ?? 0) +
        (stat.get('slab') ?? 0) +
        (stat.get('sock') ?? 0),
    activeFile: stat.get('active_file') ?? 0,
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
      // In the unit of version 1, which readers of the metrics expect.
      cpuShares: weight === undefined ? undefined : Number(weightToShares(BigInt(weight))),
      cpuQuotaUs: numberOf(quota),
      cpuPeriodUs: numberOf(period),
      memory: limitOf(cgroup.read('', 'memory.max')),
      memorySwap: limitOf(cgroup.read('', 'memory.swap.max')),
      memoryReservation: whole ? limitOf(cgroup.read('', 'memory.high')) : undefined,
    },
    threadsMax: whole ? threadsLimit(cgroup.read('', 'pids.max')) : undefined,
  };
}
