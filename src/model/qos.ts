import type { PodSpec, ResourceRequirements } from '../gen/kubernetes/types.ts';
import type { DesiredPod } from './desired-pod.ts';
import { Quantity } from './quantity.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const qosClasses: readonly string[] = ['Guaranteed', 'Burstable', 'BestEffort'];
const countedResources = ['cpu', 'memory'] as const;

const systemNodeCritical = 'system-node-critical';
/** From this priority on a pod is critical: the kubelet ends other pods to make room for it. */
/** Pods of this priority and above are critical. */
export const systemCriticalPriority = 2_000_000_000;

/** The class in the pod's status, set when it was stored; computed only for pods that no API server has stored. */
export function podQos(pod: Pick<DesiredPod, 'spec' | 'status'>): QosClass {
  const settled = pod.status.qosClass;
  return settled !== undefined && qosClasses.includes(settled) ? (settled as QosClass) : computeQos(pod.spec);
}

/**
 * Guaranteed: every container has limits of CPU and memory and requests as much. BestEffort: no container requests
 * anything. Burstable: the rest. A pod with pod-level resources counts as one unit, even where they are empty.
 */
export function computeQos(spec: PodSpec): QosClass {
  const units: readonly ResourceRequirements[] =
    spec.resources !== undefined
      ? [spec.resources]
      : [...spec.containers, ...(spec.initContainers ?? [])].map((container) => container.resources ?? {});
  const requests = sumOf(units.map((unit) => unit.requests));
  const limits = sumOf(units.map((unit) => unit.limits));
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  const allLimited = units.every((unit) =>
    countedResources.every((name) => positive(unit.limits?.[name]) !== undefined),
  );
  const equal =
    requests.size === limits.size && [...requests].every(([name, amount]) => limits.get(name)?.compare(amount) === 0);
  return allLimited && equal ? 'Guaranteed' : 'Burstable';
}

/** Critical pods may preempt others and are never evicted. */
export function isCriticalPod(pod: Pick<DesiredPod, 'source' | 'spec'>): boolean {
  return pod.source !== 'api' || (pod.spec.priority ?? 0) >= systemCriticalPriority;
}

export function isNodeCriticalPod(pod: Pick<DesiredPod, 'source' | 'spec'>): boolean {
  return isCriticalPod(pod) && pod.spec.priorityClassName === systemNodeCritical;
}

function sumOf(lists: readonly (Readonly<Record<string, string>> | undefined)[]): ReadonlyMap<string, Quantity> {
  const sum = new Map<string, Quantity>();
  for (const list of lists) {
    for (const name of countedResources) {
      const amount = positive(list?.[name]);
      if (amount !== undefined) sum.set(name, (sum.get(name) ?? Quantity.zero).add(amount));
    }
  }
  return sum;
}

/** A request of zero counts as none. */
function positive(text: string | undefined): Quantity | undefined {
  const amount = text === undefined ? Quantity.zero : Quantity.parse(text);
  return amount.sign() > 0 ? amount : undefined;
}
