import { parseCgroupName, type CgroupDriver, type CgroupName } from '../../model/cgroup-names.ts';
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
  /** Whose limits are enforced: `pods`, `kube-reserved`, `system-reserved-compressible`, … */
  readonly enforced: readonly string[];
  readonly systemReservedCgroup: string;
  readonly kubeReservedCgroup: string;
  readonly memoryQos: boolean;
  readonly hugePageSizes: readonly string[];
}

/** A cgroup that the operator made and that is to get limits. */
interface ReservedCgroup {
  /** `System Reserved` or `Kube Reserved`. */
  readonly what: string;
  /** As it is configured. */
  readonly configured: string;
  readonly name: CgroupName;
  readonly values: CgroupValues;
}

/**
 * All pods together get what is left of the node when reserves are enforced on them, else everything there is. The values
 * are written either way: a new cgroup weighs as much as a single CPU, whatever the machine has.
 */
export function allPodsValues(settings: NodeCgroupSettings): CgroupValues {
  const { capacity, reserved, enforced, hugePageSizes } = settings;
  return valuesOf(enforced.includes('pods') ? nodeAllocatable(capacity, reserved) : capacity, hugePageSizes);
}

/** The reserves of system and kube daemons, each enforced in full or only for compressible resources. */
export function reservedCgroups(settings: NodeCgroupSettings): readonly ReservedCgroup[] {
  const { reserved, systemReservedCgroup, kubeReservedCgroup } = settings;
  const one = (key: string, what: string, configured: string, amounts: Amounts): readonly ReservedCgroup[] => {
    const values = reservedValues(key, amounts, settings);
    const name = parseCgroupName(configured, settings.cgroupDriver);
    return values === undefined ? [] : [{ what, configured, name, values }];
  };
  return [
    ...one('system-reserved', 'System Reserved', systemReservedCgroup, reserved.system),
    ...one('kube-reserved', 'Kube Reserved', kubeReservedCgroup, reserved.kube),
  ];
}

function reservedValues(key: string, amounts: Amounts, settings: NodeCgroupSettings): CgroupValues | undefined {
  const { enforced, memoryQos, hugePageSizes } = settings;
  const all = valuesOf(amounts, hugePageSizes);
  if (enforced.includes(key)) return { ...all, ...(memoryQos && protectedMemory(all.memoryBytes ?? 0n)) };
  if (!enforced.includes(`${key}-compressible`)) return undefined;
  return all.cpuShares === undefined ? {} : { cpuShares: all.cpuShares };
}

function valuesOf(amounts: Amounts, hugePageSizes: readonly string[]): CgroupValues {
  const totals = new Map(Object.entries(amounts).map(([name, text]) => [name, Quantity.parse(text)] as const));
  const [cpu, memory, pid] = [totals.get('cpu'), totals.get('memory'), totals.get('pid')];
  return {
    ...(cpu && { cpuShares: milliCpuToShares(cpu.milliValue()) }),
    ...(memory && { memoryBytes: memory.value() }),
    ...(pid && { pids: pid.value() }),
    hugePages: hugePageLimits(totals, hugePageSizes),
  };
}
