import type { CgroupValues } from '../../model/cgroup-values.ts';
import { milliCpuToShares } from '../../model/cpu.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { podRequests } from '../../model/pod-resources.ts';
import { podQos, type QosClass } from '../../model/qos.ts';
import { protectedMemory } from './pod-cgroup-values.ts';

/** What one pod adds to its tier. */
export interface PodDemand {
  readonly qos: QosClass;
  readonly milliCpu: bigint;
  readonly memoryBytes: bigint;
}

export interface QosSettings {
  readonly hugePageSizes: readonly string[];
  readonly memoryQos: boolean;
  /** How much of the memory requests of higher tiers is kept from lower ones; unset unless configured. */
  readonly reservedMemoryPercent?: bigint;
  readonly allocatableMemoryBytes: bigint;
}

/** The values of the three tiers; that of guaranteed pods is the cgroup of all pods. */
type QosCgroupValues = Readonly<Record<QosClass, CgroupValues>>;

/** A tier limits no huge pages: its pods do, and the node as a whole. */
const unlimitedBytes = 1n << 62n;

export function podDemand(pod: DesiredPod): PodDemand {
  const requests = podRequests(pod.spec, { overhead: true });
  return {
    qos: podQos(pod),
    milliCpu: requests.get('cpu')?.milliValue() ?? 0n,
    memoryBytes: requests.get('memory')?.value() ?? 0n,
  };
}

/**
 * The burstable tier has the CPU weight of its pods' requests together, the best-effort tier the minimum. So best-effort
 * pods compete for what is left over, however many of them there are.
 */
export function qosCgroupValues(demands: readonly PodDemand[], settings: QosSettings): QosCgroupValues {
  const hugePages = new Map(settings.hugePageSizes.map((size) => [size, unlimitedBytes] as const));
  const limits = memoryLimits(demands, settings);
  const burstableMemory = sumOf(demands, 'Burstable', 'memoryBytes');
  const allMemory = burstableMemory + sumOf(demands, 'Guaranteed', 'memoryBytes');
  return {
    Guaranteed: settings.memoryQos ? protectedMemory(allMemory) : {},
    Burstable: {
      cpuShares: milliCpuToShares(sumOf(demands, 'Burstable', 'milliCpu')),
      hugePages,
      ...(limits && { memoryBytes: limits.burstable }),
      ...(settings.memoryQos && protectedMemory(burstableMemory)),
    },
    BestEffort: {
      cpuShares: milliCpuToShares(0n),
      hugePages,
      ...(limits && { memoryBytes: limits.bestEffort }),
    },
  };
}

interface MemoryLimits {
  readonly burstable: bigint;
  readonly bestEffort: bigint;
}

/** Each tier may use what is allocatable without the reserved share of the requests of the tiers above it. */
function memoryLimits(demands: readonly PodDemand[], settings: QosSettings): MemoryLimits | undefined {
  const { reservedMemoryPercent: percent, allocatableMemoryBytes: allocatable } = settings;
  if (percent === undefined || allocatable === 0n) return undefined;
  const reserved = (qos: QosClass): bigint => (sumOf(demands, qos, 'memoryBytes') * percent) / 100n;
  const burstable = allocatable - reserved('Guaranteed');
  return { burstable, bestEffort: burstable - reserved('Burstable') };
}

function sumOf(demands: readonly PodDemand[], qos: QosClass, what: 'milliCpu' | 'memoryBytes'): bigint {
  return demands.reduce((sum, demand) => (demand.qos === qos ? sum + demand[what] : sum), 0n);
}
