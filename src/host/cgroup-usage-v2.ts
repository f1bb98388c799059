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
import { asNumber, KeyValueParser } from './key-values.ts';
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
const cpuForm = new KeyValueParser([
  'usage_usec',
  'user_usec',
  'system_usec',
  'nr_periods',
  'nr_throttled',
  'throttled_usec',
]);
const memoryForm = new KeyValueParser([
  'anon',
  'file',
  'file_mapped',
  'active_file',
  'inactive_file',
  'kernel',
  'kernel_stack',
  'pagetables',
  'slab',
  'sock',
  'pgfault',
  'pgmajfault',
]);

const { places: cpuAt } = cpuForm;
const { places: memoryAt } = memoryForm;

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
  const stat = cgroup.readParsed(cpuForm, '', 'cpu.stat');
  const total = stat?.at(cpuAt.usage_usec);
  if (stat === undefined || total === undefined) return undefined;
  const periods = stat.at(cpuAt.nr_periods);
  return {
    totalNs: total * nanosPerMicro,
    userNs: (stat.at(cpuAt.user_usec) ?? 0) * nanosPerMicro,
    systemNs: (stat.at(cpuAt.system_usec) ?? 0) * nanosPerMicro,
    ...(periods !== undefined && {
      throttling: {
        periods,
        throttledPeriods: stat.at(cpuAt.nr_throttled) ?? 0,
        throttledNs: (stat.at(cpuAt.throttled_usec) ?? 0) * nanosPerMicro,
      },
    }),
  };
}

function memoryUsage(cgroup: CgroupFiles, whole: boolean, root: RootMemory | undefined): MemoryUsage | undefined {
  const usage = cgroup.readParsed(asNumber, '', 'memory.current') ?? root?.usage;
  const stat = usage === undefined ? undefined : cgroup.readParsed(memoryForm, '', 'memory.stat');
  if (usage === undefined || stat === undefined) return undefined;
  const events = whole ? (cgroup.read('', 'memory.events') ?? '') : '';
  const inactiveFile = stat.at(memoryAt.inactive_file) ?? 0;
  // Faults of a cgroup are counted with those of all below it.
  const faults = { minor: stat.at(memoryAt.pgfault) ?? 0, major: stat.at(memoryAt.pgmajfault) ?? 0 };
  return {
    usage,
    maxUsage: whole ? cgroup.readParsed(asNumber, '', 'memory.peak') : undefined,
    workingSet: Math.max(usage - inactiveFile, 0),
    rss: stat.at(memoryAt.anon) ?? 0,
    cache: stat.at(memoryAt.file) ?? 0,
    mappedFile: stat.at(memoryAt.file_mapped) ?? 0,
    swap: root?.swap ?? cgroup.readParsed(asNumber, '', 'memory.swap.current') ?? 0,
    kernel:
      stat.at(memoryAt.kernel) ??
      (stat.at(memoryAt.kernel_stack) ?? 0) +
        (stat.at(memoryAt.pagetables) ?? 0) +
        (stat.at(memoryAt.slab) ?? 0) +
        (stat.at(memoryAt.sock) ?? 0),
    activeFile: stat.at(memoryAt.active_file) ?? 0,
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

/** The weight in the unit of version 1, which readers of the metrics expect: 1…10,000 onto 2…262,144. */
function sharesOfWeight(weight: number): number {
  return Math.floor(2 + ((weight - 1) * 262_142) / 9_999);
}
