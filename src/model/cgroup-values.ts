import { defaultCpuPeriodUs, sharesToWeight } from './cpu.ts';

/** Limits and weights of a cgroup by names that both versions of the kernel's interface share. An absent value stays. */
export interface CgroupValues {
  /** In the unit of version 1. */
  readonly cpuShares?: bigint;
  /** CPU time per period; below zero there is no limit. */
  readonly cpuQuotaUs?: bigint;
  readonly cpuPeriodUs?: bigint;
  readonly memoryBytes?: bigint;
  readonly pids?: bigint;
  /** The CPUs it may run on, as a list such as `0-3,8`. */
  readonly cpus?: string;
  /** By page size as the kernel's files are named: `2MB`. */
  readonly hugePages?: ReadonlyMap<string, bigint>;
  /** Files of version 2 that version 1 has no counterpart of. */
  readonly unified?: Readonly<Record<string, string>>;
}

/** One file of a cgroup, and the value to write into it. */
export interface CgroupSetting {
  readonly controller: string;
  readonly file: string;
  readonly value: string;
  /** Not every kernel has the file, and it is no loss. */
  readonly optional?: boolean;
}

export type CgroupVersion = 1 | 2;

/**
 * The files that hold these values. Zero means "not set" and -1 "no limit", as everywhere in resources; huge pages have
 * neither.
 */
export function cgroupSettings(values: CgroupValues, version: CgroupVersion): readonly CgroupSetting[] {
  return [
    ...(version === 1 ? cpuVersion1(values) : cpuVersion2(values)),
    ...(version === 1 ? said('memory', 'memory.limit_in_bytes', values.memoryBytes) : memoryVersion2(values)),
    ...limit('pids', 'pids.max', values.pids),
    ...(values.cpus ? [{ controller: 'cpuset', file: 'cpuset.cpus', value: values.cpus }] : []),
    ...[...(values.hugePages ?? [])].flatMap(([size, bytes]) => hugePages(size, bytes, version)),
    ...(version === 1 ? [] : unified(values.unified ?? {})),
  ];
}

/** The period is written first, because the kernel checks a quota against the period that is set. */
function cpuVersion1({ cpuShares, cpuPeriodUs, cpuQuotaUs }: CgroupValues): readonly CgroupSetting[] {
  return [
    ...said('cpu', 'cpu.shares', cpuShares),
    ...said('cpu', 'cpu.cfs_period_us', cpuPeriodUs),
    ...said('cpu', 'cpu.cfs_quota_us', cpuQuotaUs),
  ];
}

/** One file for both: a quota of zero or below is none. */
function cpuVersion2({ cpuShares, cpuPeriodUs = 0n, cpuQuotaUs = 0n }: CgroupValues): readonly CgroupSetting[] {
  const limits = `${cpuQuotaUs > 0n ? cpuQuotaUs : 'max'} ${cpuPeriodUs || defaultCpuPeriodUs}`;
  return [
    ...(cpuShares === undefined ? [] : said('cpu', 'cpu.weight', sharesToWeight(cpuShares))),
    ...(cpuQuotaUs === 0n && cpuPeriodUs === 0n ? [] : [{ controller: 'cpu', file: 'cpu.max', value: limits }]),
  ];
}

/** Memory without a limit needs none of swap either, which not every kernel counts. */
function memoryVersion2({ memoryBytes }: CgroupValues): readonly CgroupSetting[] {
  const swap = { controller: 'memory', file: 'memory.swap.max', value: 'max', optional: true };
  return [...(memoryBytes === -1n ? [swap] : []), ...limit('memory', 'memory.max', memoryBytes)];
}

/** Pages are taken when they are touched, but newer kernels also count them when they are promised. */
function hugePages(size: string, bytes: bigint, version: CgroupVersion): readonly CgroupSetting[] {
  const last = version === 1 ? 'limit_in_bytes' : 'max';
  const value = String(bytes);
  return [
    { controller: 'hugetlb', file: `hugetlb.${size}.${last}`, value },
    { controller: 'hugetlb', file: `hugetlb.${size}.rsvd.${last}`, value, optional: true },
  ];
}

/** The file's name begins with that of its controller. */
function unified(values: Readonly<Record<string, string>>): readonly CgroupSetting[] {
  return Object.entries(values).map(([file, value]) => ({ controller: file.split('.')[0] ?? '', file, value }));
}

function said(controller: string, file: string, value: bigint | undefined): readonly CgroupSetting[] {
  return value === undefined || value === 0n ? [] : [{ controller, file, value: String(value) }];
}

function limit(controller: string, file: string, value: bigint | undefined): readonly CgroupSetting[] {
  return value === -1n ? [{ controller, file, value: 'max' }] : said(controller, file, value);
}
