import type { CpuUsage, MemoryUsage, Pressure, PressureLine, ProcessUsage, UsageLimits } from '../../model/usage.ts';
import type { CgroupSubject } from './cgroup-subject.ts';
import type { Family } from './family.ts';

/** What a cgroup uses of processors and memory, how long it waits for them, and what it is given. */

type CgroupFamily = Family<CgroupSubject>;
type ValueOf<T> = (part: T, subject: CgroupSubject) => number | undefined;

const counter = (name: string, help: string, each: CgroupFamily['each']): CgroupFamily => ({
  name,
  type: 'counter',
  help,
  timed: true,
  each,
});
const gauge = (name: string, help: string, each: CgroupFamily['each']): CgroupFamily => ({
  ...counter(name, help, each),
  type: 'gauge',
});

/** One sample per cgroup that has this part. */
const ofCpu =
  (value: ValueOf<CpuUsage>): CgroupFamily['each'] =>
  (subject, put) =>
    subject.usage.cpu && put(subject.plain, value(subject.usage.cpu, subject));
const ofMemory =
  (value: ValueOf<MemoryUsage>): CgroupFamily['each'] =>
  (subject, put) =>
    subject.usage.memory && put(subject.plain, value(subject.usage.memory, subject));
const ofProcesses =
  (value: ValueOf<ProcessUsage>): CgroupFamily['each'] =>
  (subject, put) =>
    subject.usage.processes && put(subject.plain, value(subject.usage.processes, subject));
const ofPressure =
  (resource: 'cpu' | 'memory' | 'io', line: keyof Pressure): CgroupFamily['each'] =>
  (subject, put) => {
    const counted: PressureLine | undefined = subject.usage.pressure[resource]?.[line];
    put(subject.plain, counted === undefined ? 0 : counted.totalUs / 1e6);
  };

const perSecond = 1e9;

/** A part of the specification, which has no moment. */
const spec = (name: string, help: string, value: ValueOf<UsageLimits>): CgroupFamily => ({
  name,
  type: 'gauge',
  help,
  timed: false,
  each: (subject, put) => put(subject.plain, value(subject.usage.limits, subject)),
});

/** Throttling is reported of cgroups with a quota alone: without one it is nothing that is always zero. */
const ofThrottling = (value: ValueOf<NonNullable<CpuUsage['throttling']>>): CgroupFamily['each'] =>
  ofCpu((cpu, subject) => (hasQuota(subject) ? cpu.throttling && value(cpu.throttling, subject) : undefined));
const hasQuota = ({ usage }: CgroupSubject): boolean => (usage.limits.cpuQuotaUs ?? 0) > 0;

/** Zero stands for "no limit"; a cgroup without memory accounting has no such value. */
const memoryLimit =
  (field: 'memory' | 'memorySwap' | 'memoryReservation'): ValueOf<UsageLimits> =>
  (limits, { usage }) =>
    limits[field] ?? (usage.memory && 0);

const cpu: readonly CgroupFamily[] = [
  counter('container_cpu_usage_seconds_total', 'Processor time used, of all processors.', (subject, put) => {
    const total = subject.usage.cpu?.totalNs ?? 0;
    if (total > 0) put(subject.allCpus, total / perSecond);
  }),
  counter(
    'container_cpu_user_seconds_total',
    'Processor time used in user mode.',
    ofCpu((of) => of.userNs / perSecond),
  ),
  counter(
    'container_cpu_system_seconds_total',
    'Processor time used in kernel mode.',
    ofCpu((of) => of.systemNs / perSecond),
  ),
  counter(
    'container_cpu_cfs_periods_total',
    'Periods in which the quota was enforced.',
    ofThrottling((of) => of.periods),
  ),
  counter(
    'container_cpu_cfs_throttled_periods_total',
    'Periods in which the quota was used up.',
    ofThrottling((of) => of.throttledPeriods),
  ),
  counter(
    'container_cpu_cfs_throttled_seconds_total',
    'Time for which the quota kept tasks from running.',
    ofThrottling((of) => of.throttledNs / perSecond),
  ),
];

const memory: readonly CgroupFamily[] = [
  gauge(
    'container_memory_cache',
    'Page cache in bytes.',
    ofMemory((of) => of.cache),
  ),
  counter(
    'container_memory_failcnt',
    'How often memory reached its limit.',
    ofMemory((of) => of.failures),
  ),
  counter('container_memory_failures_total', 'Page faults, minor and major.', ({ usage, faults }, put) => {
    if (usage.memory === undefined) return;
    const { own, all } = usage.memory.faults;
    put(faults.own.minor, own.minor);
    put(faults.own.major, own.major);
    put(faults.all.minor, all.minor);
    put(faults.all.major, all.major);
  }),
  gauge(
    'container_memory_kernel_usage',
    'Memory of the kernel in bytes.',
    ofMemory((of) => of.kernel),
  ),
  gauge(
    'container_memory_mapped_file',
    'Mapped files in bytes.',
    ofMemory((of) => of.mappedFile),
  ),
  gauge(
    'container_memory_max_usage_bytes',
    'The most memory that was used.',
    ofMemory((of) => of.maxUsage),
  ),
  gauge(
    'container_memory_rss',
    'Anonymous memory in bytes.',
    ofMemory((of) => of.rss),
  ),
  gauge(
    'container_memory_swap',
    'Swap in use in bytes.',
    ofMemory((of) => of.swap),
  ),
  gauge(
    'container_memory_total_active_file_bytes',
    'Active page cache.',
    ofMemory((of) => of.activeFile),
  ),
  gauge(
    'container_memory_total_inactive_file_bytes',
    'Inactive page cache.',
    ofMemory((of) => of.inactiveFile),
  ),
  gauge(
    'container_memory_usage_bytes',
    'Memory in use, page cache included.',
    ofMemory((of) => of.usage),
  ),
  gauge(
    'container_memory_working_set_bytes',
    'Memory in use without inactive page cache.',
    ofMemory((of) => of.workingSet),
  ),
  counter(
    'container_oom_events_total',
    'Processes killed for want of memory.',
    ofMemory((of) => of.oomEvents),
  ),
];

const waiting = (of: string): string => `Time for which at least one task waited for ${of}.`;
const stalled = (of: string): string => `Time for which all tasks at once waited for ${of}.`;

/** Zero where the kernel does not count it, as upstream's are; without the gate KubeletPSI nothing is reported of it. */
export const pressureFamilies: readonly CgroupFamily[] = [
  counter('container_pressure_cpu_stalled_seconds_total', stalled('a processor'), ofPressure('cpu', 'full')),
  counter('container_pressure_cpu_waiting_seconds_total', waiting('a processor'), ofPressure('cpu', 'some')),
  counter('container_pressure_io_stalled_seconds_total', stalled('input or output'), ofPressure('io', 'full')),
  counter('container_pressure_io_waiting_seconds_total', waiting('input or output'), ofPressure('io', 'some')),
  counter('container_pressure_memory_stalled_seconds_total', stalled('memory'), ofPressure('memory', 'full')),
  counter('container_pressure_memory_waiting_seconds_total', waiting('memory'), ofPressure('memory', 'some')),
];

const processes: readonly CgroupFamily[] = [
  gauge(
    'container_file_descriptors',
    'Open file descriptors.',
    ofProcesses((of) => of.fileDescriptors),
  ),
  gauge(
    'container_processes',
    'Processes.',
    ofProcesses((of) => of.processes),
  ),
  gauge(
    'container_sockets',
    'Open sockets.',
    ofProcesses((of) => of.sockets),
  ),
  gauge(
    'container_threads',
    'Threads.',
    ofProcesses((of) => of.threads),
  ),
  gauge(
    'container_threads_max',
    'The most threads there may be; zero for any number.',
    ofProcesses((of) => of.threadsMax),
  ),
  gauge('container_ulimits_soft', 'Soft limits of the first process; -1 where there is none.', (subject, put) =>
    put(subject.openFiles, subject.usage.processes?.openFilesSoftLimit),
  ),
];

const life: readonly CgroupFamily[] = [
  gauge('container_last_seen', 'When this was there last, in seconds since the epoch.', ({ plain, usage }, put) =>
    put(plain, Math.floor(usage.at / 1_000)),
  ),
  spec('container_start_time_seconds', 'When this began, in seconds since the epoch.', (_, { usage }) =>
    usage.createdAt === undefined ? undefined : Math.floor(usage.createdAt / 1_000),
  ),
  spec('container_spec_cpu_period', 'Length of the period of the quota in microseconds.', (of) => of.cpuPeriodUs),
  spec('container_spec_cpu_quota', 'Quota of processor time per period in microseconds.', (of, subject) =>
    hasQuota(subject) ? of.cpuQuotaUs : undefined,
  ),
  spec('container_spec_cpu_shares', 'Share of processor time when it is scarce.', (of) => of.cpuShares),
  spec('container_spec_memory_limit_bytes', 'Limit of memory; zero for none.', memoryLimit('memory')),
  spec(
    'container_spec_memory_reservation_limit_bytes',
    'Memory that is left to it when memory is scarce; zero for none.',
    memoryLimit('memoryReservation'),
  ),
  spec('container_spec_memory_swap_limit_bytes', 'Limit of swap; zero for none.', memoryLimit('memorySwap')),
];

/** Upstream's reader of loads is off, so that its values are zero for every cgroup; queries expect them to be there. */
const load: readonly CgroupFamily[] = [
  gauge('container_cpu_load_average_10s', 'Always zero: loads of cgroups are not read.', ({ plain }, put) =>
    put(plain, 0),
  ),
  gauge('container_cpu_load_d_average_10s', 'Always zero: loads of cgroups are not read.', ({ plain }, put) =>
    put(plain, 0),
  ),
  gauge('container_tasks_state', 'Always zero: states of tasks are not read.', ({ taskStates }, put) => {
    for (const labels of taskStates) put(labels, 0);
  }),
];

export const cgroupFamilies: readonly CgroupFamily[] = [...cpu, ...load, ...memory, ...processes, ...life];
