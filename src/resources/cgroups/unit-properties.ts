import { describeError, TubeletError } from '../../base/errors.ts';
import type { CgroupValues, CgroupVersion } from '../../model/cgroup-values.ts';
import { defaultCpuPeriodUs, sharesToWeight } from '../../model/cpu.ts';
import type { UnitProperty, UnitValue } from '../../model/systemd-units.ts';
import { listBits } from './cpu-bits.ts';

interface UnitFormat {
  /** The version of cgroups, which decides how systemd names a property. */
  readonly version: CgroupVersion;
  /** systemd's own version; undefined where it is not known: properties of newer ones are left out then. */
  readonly systemd: number | undefined;
}

/** What systemd writes for "no limit". */
const noLimit = (1n << 64n) - 1n;
/** The first versions with a property. */
const versionOf = { period: 242, cpuset: 244, idle: 252 } as const;
const microsecondsPerSecond = 1_000_000n;
/** systemd keeps quotas in hundredths of a CPU. */
const quotaStep = 10_000n;

/** What systemd is to know of a group's values. Keys without a property, such as huge pages, are written as files alone. */
export function unitProperties(values: CgroupValues, format: UnitFormat): readonly UnitProperty[] {
  const { cpuShares = 0n, memoryBytes = 0n, pids = 0n, cpus = '', unified = {} } = values;
  const second = format.version === 2;
  return [
    ...said(second ? 'MemoryMax' : 'MemoryLimit', memoryBytes),
    ...(second && memoryBytes < 0n ? said('MemorySwapMax', memoryBytes) : []),
    ...(second ? said('CPUWeight', cpuShares && sharesToWeight(cpuShares)) : said('CPUShares', cpuShares)),
    ...cpuQuota(values.cpuQuotaUs ?? 0n, values.cpuPeriodUs ?? 0n, format),
    ...said('TasksMax', pids),
    ...(cpus === '' ? [] : allowed('AllowedCPUs', cpus, 'resources.CPU.Cpus', format)),
    ...(second
      ? Object.entries(unified).flatMap(([key, value]) => unifiedProperties(key, value, unified, format))
      : []),
  ];
}

function cpuQuota(quota: bigint, period: bigint, { systemd = 0 }: UnitFormat): readonly UnitProperty[] {
  if (quota === 0n && period === 0n) return [];
  const perSecond = quota <= 0n ? noLimit : (quota * microsecondsPerSecond) / (period || defaultCpuPeriodUs);
  const steps = quota <= 0n ? perSecond : ((perSecond + quotaStep - 1n) / quotaStep) * quotaStep;
  return [
    ...(period !== 0n && systemd >= versionOf.period ? [number('CPUQuotaPeriodUSec', period)] : []),
    number('CPUQuotaPerSecUSec', steps),
  ];
}

function unifiedProperties(
  key: string,
  value: string,
  all: Readonly<Record<string, string>>,
  format: UnitFormat,
): readonly UnitProperty[] {
  if (key.includes('/'))
    throw new TubeletError('invalid', `unified resource "${key}" must be a file name (no slashes)`);
  if (!/^[^.]+\./.test(key))
    throw new TubeletError('invalid', `unified resource "${key}" must be in the form CONTROLLER.PARAMETER`);
  const idles = all['cpu.idle'] === '1' && (format.systemd ?? 0) >= versionOf.idle;
  const named = unifiedNames[key];
  if (named !== undefined) return key === 'cpu.weight' && idles ? [] : [number(named, amount(key, value))];
  if (key === 'cpu.idle') return idles ? [number('CPUWeight', 0n)] : [];
  if (key === 'cpuset.cpus') return allowed('AllowedCPUs', value, `unified resource "${key}"`, format);
  if (key === 'cpuset.mems') return allowed('AllowedMemoryNodes', value, `unified resource "${key}"`, format);
  if (key !== 'cpu.max') return [];
  const [quota = 'max', period = String(defaultCpuPeriodUs)] = value.split(' ');
  return cpuQuota(quota === 'max' ? -1n : amount(key, quota), amount(key, period), format);
}

/** Files of version 2 that hold one number or `max`. */
const unifiedNames: Readonly<Record<string, string>> = {
  'cpu.weight': 'CPUWeight',
  'memory.min': 'MemoryMin',
  'memory.low': 'MemoryLow',
  'memory.high': 'MemoryHigh',
  'memory.max': 'MemoryMax',
  'memory.swap.max': 'MemorySwapMax',
  'pids.max': 'TasksMax',
};

function amount(key: string, text: string): bigint {
  if (text === 'max') return noLimit;
  if (!/^\d+$/.test(text)) throw new TubeletError('invalid', `unified resource "${key}" has no number: "${text}"`);
  return BigInt(text);
}

function allowed(name: string, list: string, what: string, { systemd = 0 }: UnitFormat): readonly UnitProperty[] {
  if (systemd < versionOf.cpuset) return [];
  try {
    return [property(name, { type: 'ay', value: listBits(list) })];
  } catch (cause) {
    const message = `${what}="${list}" conversion error: ${describeError(cause)}`;
    throw new TubeletError('invalid', message, { cause });
  }
}

const property = (name: string, value: UnitValue): UnitProperty => ({ name, value });
const number = (name: string, value: bigint): UnitProperty => property(name, { type: 't', value });
/** Zero means "not set", below zero there is no limit. */
const said = (name: string, value: bigint): readonly UnitProperty[] =>
  value === 0n ? [] : [number(name, value < 0n ? noLimit : value)];
