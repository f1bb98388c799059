import { parseCgroupName, quotedCgroup, type CgroupDriver, type CgroupName } from '../../model/cgroup-names.ts';
import type { CgroupValues } from '../../model/cgroup-values.ts';
import { milliCpuToShares } from '../../model/cpu.ts';
import { nodeAllocatable, type Amounts, type Reservations } from '../../model/node-allocatable.ts';
import { Quantity } from '../../model/quantity.ts';
import { hugePageLimits, protectedMemory } from './pod-cgroup-values.ts';

export interface NodeCgroupSettings {
  readonly cgroupRoot: string;
  readonly cgroupDriver: CgroupDriver;
  readonly capacity: Amounts;
  readonly reserved: Reservations;
  /** What hard eviction keeps free; it counts where more is reserved than there is. */
  readonly evictionHard: Amounts;
  /** Whose limits are enforced: `pods`, `kube-reserved`, `system-reserved-compressible`, … */
  readonly enforced: readonly string[];
  readonly systemReservedCgroup: string;
  readonly kubeReservedCgroup: string;
  readonly memoryQos: boolean;
  readonly hugePageSizes: readonly string[];
  /** All CPUs, as a list; empty where cgroups have them by themselves. */
  readonly cpus: string;
}

/** A cgroup that the operator made and that is to get limits. */
interface ReservedCgroup {
  /** `System Reserved` or `Kube Reserved`. */
  readonly what: string;
  /** Only limits of compressible resources, which take nothing from processes that have more. */
  readonly compressible: boolean;
  /** As it is configured. */
  readonly configured: string;
  readonly name: CgroupName;
  readonly values: CgroupValues;
  /** What is wrong with the configuration. */
  readonly problem?: string;
}

/**
 * All pods together get what is left of the node when reserves are enforced on them, else everything there is. The values
 * are written either way: a new cgroup weighs as much as a single CPU, whatever the machine has.
 */
export function allPodsValues(settings: NodeCgroupSettings): CgroupValues {
  const { capacity, reserved, enforced } = settings;
  return valuesOf(enforced.includes('pods') ? nodeAllocatable(capacity, reserved) : capacity, settings);
}

/**
 * The reserves of system and kube daemons, each enforced in full or only for compressible resources, in the order in which
 * they are written.
 */
export function reservedCgroups(settings: NodeCgroupSettings): readonly ReservedCgroup[] {
  const { reserved, enforced, systemReservedCgroup, kubeReservedCgroup } = settings;
  const one = (key: string, what: string, configured: string, amounts: Amounts): readonly ReservedCgroup[] => {
    const compressible = key.endsWith('-compressible');
    if (!enforced.includes(key)) return [];
    const name = parseCgroupName(configured, settings.cgroupDriver);
    const values = reservedValues(amounts, compressible, settings);
    const empty = Object.keys(amounts).length === 0;
    const problem = `${quotedCgroup(name)} cgroup is not configured properly`;
    return [{ what, compressible, configured, name, values, ...(empty && { problem }) }];
  };
  return [
    ...one('system-reserved', 'System Reserved', systemReservedCgroup, reserved.system),
    ...one('kube-reserved', 'Kube Reserved', kubeReservedCgroup, reserved.kube),
    ...one('system-reserved-compressible', 'System Reserved', systemReservedCgroup, reserved.system),
    ...one('kube-reserved-compressible', 'Kube Reserved', kubeReservedCgroup, reserved.kube),
  ];
}

/** Huge pages cannot be reserved, so daemons get none of them, whatever is enforced. */
function reservedValues(amounts: Amounts, compressible: boolean, settings: NodeCgroupSettings): CgroupValues {
  const all = valuesOf(amounts, settings);
  if (!compressible) return { ...all, ...(settings.memoryQos && protectedMemory(all.memoryBytes ?? 0n)) };
  const { memoryBytes: _memory, pids: _pids, ...others } = all;
  return others;
}

/**
 * The CPUs are named although they are all there are: systemd takes the controller cpuset away from cgroups below a slice
 * without any, and with it from pods that run.
 */
function valuesOf(amounts: Amounts, { hugePageSizes, cpus }: NodeCgroupSettings): CgroupValues {
  const totals = new Map(Object.entries(amounts).map(([name, text]) => [name, Quantity.parse(text)] as const));
  const [cpu, memory, pid] = [totals.get('cpu'), totals.get('memory'), totals.get('pid')];
  return {
    ...(cpu && { cpuShares: milliCpuToShares(cpu.milliValue()) }),
    ...(memory && { memoryBytes: memory.value() }),
    ...(pid && { pids: pid.value() }),
    ...(cpus !== '' && { cpus }),
    hugePages: hugePageLimits(totals, hugePageSizes),
  };
}
