import type { PodUid } from '../../base/ids.ts';
import { isStatic, type DesiredPod } from '../../model/desired-pod.ts';
import { isCriticalPod, podQos, type QosClass } from '../../model/qos.ts';
import { containerEvents } from '../../model/event-reasons.ts';
import { conditionReasons, podReasons } from '../../model/reasons.ts';
import { admissionMessages } from './messages.ts';
import { requestOf } from './requests.ts';
import { missingOf, type Shortage } from './shortages.ts';

/** The pods to preempt, or what would still be missing if all that may be preempted were. */
type Preemption = { readonly victims: readonly PodUid[] } | { readonly stillMissing: ReadonlyMap<string, bigint> };

/** The end of a victim in its status: the condition lets controllers see that it did not fail on its own. */
export const preemptionDecision = {
  reason: podReasons.preempting,
  message: admissionMessages.preempted,
  disruption: { reason: conditionReasons.terminationByKubelet, message: admissionMessages.preemptedDisruption },
} as const;

export const preemptionEvent = {
  type: 'Warning',
  reason: containerEvents.preempting,
  message: admissionMessages.preempted,
} as const;

/** Resource → amount that must be freed. */
type Missing = ReadonlyMap<string, bigint>;

/**
 * Chooses the pods to preempt for a critical pod. A Guaranteed pod is preempted only if all Burstable and BestEffort ones
 * together would not do, a Burstable one only if the BestEffort ones would not. Within a class the pod is chosen that comes
 * nearest to what is missing, so that few are preempted and little is freed beyond need.
 */
export function computePreemption(
  pod: DesiredPod,
  active: readonly DesiredPod[],
  shortages: readonly Shortage[],
): Preemption {
  const missing: Missing = new Map(shortages.map((shortage) => [shortage.resource, missingOf(shortage)]));
  const candidates = active.filter((other) => isPreemptable(pod, other));
  const stillMissing = subtract(missing, candidates);
  if (stillMissing.size > 0) return { stillMissing };

  const of = (qos: QosClass): readonly DesiredPod[] => candidates.filter((candidate) => podQos(candidate) === qos);
  const [bestEffort, burstable] = [of('BestEffort'), of('Burstable')];
  const guaranteedToEvict = podsToEvict(of('Guaranteed'), subtract(missing, [...bestEffort, ...burstable]));
  const burstableToEvict = podsToEvict(burstable, subtract(missing, [...bestEffort, ...guaranteedToEvict]));
  const bestEffortToEvict = podsToEvict(bestEffort, subtract(missing, [...burstableToEvict, ...guaranteedToEvict]));
  return { victims: [...bestEffortToEvict, ...burstableToEvict, ...guaranteedToEvict].map(({ uid }) => uid) };
}

/** Static pods are never preempted; among critical pods a stated higher priority decides. */
function isPreemptable(pod: DesiredPod, other: DesiredPod): boolean {
  if (other.uid === pod.uid || isStatic(other)) return false;
  if (isCriticalPod(pod) && !isCriticalPod(other)) return true;
  const [own, others] = [pod.spec.priority, other.spec.priority];
  return own !== undefined && others !== undefined && own > others;
}

/** Pods that free what is missing. There are enough of them, or the caller would not ask. */
function podsToEvict(candidates: readonly DesiredPod[], missing: Missing): readonly DesiredPod[] {
  const chosen: DesiredPod[] = [];
  const left = candidates.toSorted(bySize);
  let open = missing;
  while (open.size > 0 && left.length > 0) {
    const distances = left.map((candidate) => distance(candidate, open));
    const nearest = distances.indexOf(Math.min(...distances));
    chosen.push(...left.splice(nearest, 1));
    open = subtract(missing, chosen);
  }
  return withoutSuperfluous(chosen, missing);
}

/** Drops victims that later choices have made unnecessary: with several short resources one pod can cover another. */
function withoutSuperfluous(chosen: readonly DesiredPod[], missing: Missing): readonly DesiredPod[] {
  let kept = chosen;
  for (const candidate of chosen.toSorted((a, b) => bySize(b, a))) {
    const others = kept.filter((pod) => pod !== candidate);
    if (subtract(missing, others).size === 0) kept = others;
  }
  return kept;
}

/** How far a pod is from freeing everything; each resource counts alike, whatever its unit. */
function distance(pod: DesiredPod, missing: Missing): number {
  let sum = 0;
  for (const [resource, amount] of missing) {
    const rest = amount - requestOf(pod, resource);
    if (rest > 0n) sum += (Number(rest) / Number(amount)) ** 2;
  }
  return sum;
}

/** What stays missing when these pods are preempted. */
function subtract(missing: Missing, pods: readonly DesiredPod[]): Missing {
  const rest = new Map<string, bigint>();
  for (const [resource, amount] of missing) {
    const open = pods.reduce((sum, pod) => sum - requestOf(pod, resource), amount);
    if (open > 0n) rest.set(resource, open);
  }
  return rest;
}

/** Smaller ones first; the uid makes the choice independent of the order in which pods came. */
function bySize(a: DesiredPod, b: DesiredPod): number {
  for (const resource of ['memory', 'cpu']) {
    const [left, right] = [requestOf(a, resource), requestOf(b, resource)];
    if (left !== right) return left < right ? -1 : 1;
  }
  return (a.spec.priority ?? 0) - (b.spec.priority ?? 0) || (a.uid < b.uid ? -1 : 1);
}
