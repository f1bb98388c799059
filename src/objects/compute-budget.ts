import type { PodUid } from '../base/ids.ts';

export interface ObjectLimits {
  /** The cost of watching an object, without its contents. */
  readonly objectBytes: number;
  /** Every pod may have this much, whatever the others have. */
  readonly shareBytes: number;
  /** No pod may have more. */
  readonly podBytes: number;
  /** All that pods have beyond their share, together. */
  readonly nodeBytes: number;
}

const [kib, mib] = [1024, 1024 * 1024];
export const objectLimits: ObjectLimits = {
  objectBytes: 16 * kib,
  shareBytes: 512 * kib,
  podBytes: 16 * mib,
  nodeBytes: 64 * mib,
};

/** Why a pod cannot have its objects: they exceed the pod's limit, or the other pods have used up the node's. */
export interface BudgetRefusal {
  readonly because: 'pod' | 'node';
  readonly message: string;
}

/**
 * Which pods may have their ConfigMaps and Secrets in memory, in the order in which they came. A pod has all of them or
 * none: with half of them it could not start, and would take memory that another pod could start with.
 */
export function computeBudget(
  pods: ReadonlyMap<PodUid, readonly string[]>,
  contentBytes: ReadonlyMap<string, number>,
  limits: ObjectLimits = objectLimits,
): ReadonlyMap<PodUid, BudgetRefusal> {
  const refusals = new Map<PodUid, BudgetRefusal>();
  const paid = new Set<string>();
  let used = 0;
  const costOf = (key: string): number => limits.objectBytes + (contentBytes.get(key) ?? 0);
  for (const [uid, keys] of pods) {
    const whole = sum(keys, costOf);
    if (whole <= limits.shareBytes) continue;
    if (whole > limits.podBytes) {
      refusals.set(uid, { because: 'pod', message: tooMuchForPod(keys.length, limits) });
      continue;
    }
    const unpaid = keys.filter((key) => !paid.has(key));
    const more = sum(unpaid, costOf);
    if (used + more > limits.nodeBytes) {
      refusals.set(uid, { because: 'node', message: tooMuchForNode(whole, limits) });
      continue;
    }
    used += more;
    for (const key of unpaid) paid.add(key);
  }
  return refusals;
}

function sum(keys: readonly string[], costOf: (key: string) => number): number {
  let total = 0;
  for (const key of keys) total += costOf(key);
  return total;
}

function tooMuchForPod(count: number, { podBytes }: ObjectLimits): string {
  return `the ${count} ConfigMaps and Secrets that the pod names take more than ${inMib(podBytes)} of the node's memory, which is all that one pod may have: name fewer, or make them smaller`;
}

function tooMuchForNode(whole: number, { nodeBytes }: ObjectLimits): string {
  return `the ConfigMaps and Secrets that the pod names take ${inMib(whole)} of the node's memory, and other pods have too much of the ${inMib(nodeBytes)} that there are for them; the pod waits until there is room`;
}

function inMib(bytes: number): string {
  return `${Math.ceil((bytes / mib) * 10) / 10} MiB`;
}
