import type { CgroupVersion } from '../../model/cgroup-values.ts';
import { nodeAllocatable, type Amounts, type Reservations } from '../../model/node-allocatable.ts';
import { Quantity } from '../../model/quantity.ts';
import type { NodeCgroupSettings } from './node-cgroup-values.ts';
import type { PodCgroupSettings } from './pod-cgroup-values.ts';
import type { QosSettings } from './qos-cgroup-values.ts';

/** Settings of cgroups, of the configuration and the machine. */
export interface CgroupSettings {
  /** cgroupsPerQOS */
  readonly cgroupsPerQos: boolean;
  readonly cgroupDriver: 'cgroupfs' | 'systemd';
  /** `/` where none is configured. */
  readonly cgroupRoot: string;
  readonly cgroupVersion: CgroupVersion;
  readonly failCgroupV1: boolean;
  /** singleProcessOOMKill; undefined where it is not set. */
  readonly singleProcessOomKill: boolean | undefined;
  /** memorySwap.swapBehavior */
  readonly swapBehavior: string;
  /** The machine's CPUs, as a list such as `0-3,8`. */
  readonly cpus: string;
  /** kubeletCgroups: empty for the cgroup that the agent was started in. */
  readonly kubeletCgroups: string;
  /** What the machine has, and what is reserved. */
  readonly capacity: Amounts;
  readonly reserved: Reservations;
  /** Hard thresholds of eviction; empty where they are not to be reserved. */
  readonly evictionHard: Amounts;
  readonly enforceNodeAllocatable: readonly string[];
  readonly systemReservedCgroup: string;
  readonly kubeReservedCgroup: string;
  /** qosReserved of memory in percent; unset where none is. */
  readonly qosReservedMemory: bigint | undefined;
  /** The feature gate MemoryQoS. */
  readonly memoryQosGate: boolean;
  /** Page sizes the kernel offers, written `2MB`. */
  readonly hugePageSizes: readonly string[];
  readonly cpuCfsQuota: boolean;
  readonly cpuCfsQuotaPeriodMs: number;
  readonly podPidsLimit: number;
}

/** Pure. */
export function nodeCgroupSettings(settings: CgroupSettings): NodeCgroupSettings {
  const { cgroupRoot, cgroupDriver, capacity, reserved, evictionHard, hugePageSizes } = settings;
  return {
    cgroupRoot,
    cgroupDriver,
    capacity,
    reserved,
    evictionHard,
    enforced: settings.enforceNodeAllocatable,
    systemReservedCgroup: settings.systemReservedCgroup,
    kubeReservedCgroup: settings.kubeReservedCgroup,
    memoryQos: hasMemoryQos(settings),
    hugePageSizes,
    // A new cpuset of version 1 is a copy of the one above it.
    cpus: settings.cgroupVersion === 1 && cgroupDriver === 'cgroupfs' ? '' : settings.cpus,
  };
}

/** Pure. */
export function qosSettings(settings: CgroupSettings): QosSettings {
  const { capacity, reserved, hugePageSizes, qosReservedMemory } = settings;
  return {
    hugePageSizes,
    memoryQos: hasMemoryQos(settings),
    allocatableMemoryBytes: Quantity.parse(nodeAllocatable(capacity, reserved)['memory'] ?? '0').value(),
    ...(qosReservedMemory !== undefined && { reservedMemoryPercent: qosReservedMemory }),
  };
}

/** Pure. */
export function podCgroupSettings(settings: CgroupSettings): PodCgroupSettings {
  const { cpuCfsQuota, cpuCfsQuotaPeriodMs, podPidsLimit, hugePageSizes } = settings;
  return {
    cpuCfsQuota,
    cpuPeriodUs: BigInt(Math.round(cpuCfsQuotaPeriodMs * 1_000)),
    podPidsLimit,
    memoryQos: hasMemoryQos(settings),
    hugePageSizes,
  };
}

/** Version 1 cannot protect memory. */
function hasMemoryQos({ cgroupVersion, memoryQosGate }: CgroupSettings): boolean {
  return cgroupVersion === 2 && memoryQosGate;
}
