import type { SandboxId } from '../../base/ids.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';
import { computeEvictable, computeEvictableSandboxes, unitsOf, type Evictable } from './compute-evictable.ts';

interface Prune {
  readonly containers: readonly Evictable[];
  readonly sandboxes: readonly SandboxId[];
}

/**
 * The same rule for one pod whose container has just died: the newest dead instance is always kept, because the pod's
 * status is made from it; and age does not matter, because a container that dies often would fill the disk.
 */
export function computePrune(observed: ObservedPod, maxPerContainer: number): Prune {
  const policy = { minAgeMs: Number.NEGATIVE_INFINITY, maxPerContainer: Math.max(1, maxPerContainer), maxTotal: -1 };
  const containers = computeEvictable(unitsOf(observed, false), policy, 0);
  const evictedIds = new Set(containers.map(({ id }) => id));
  return { containers, sandboxes: computeEvictableSandboxes(observed, evictedIds, false) };
}
