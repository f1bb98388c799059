import type { PodUid } from '../../base/ids.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';

/** One sandbox or container in a listing, with no more than the fields by which a change is noticed. */
export interface Listed {
  readonly id: string;
  readonly state: string;
}

export interface ListedPod {
  readonly name: string;
  readonly namespace: string;
  readonly items: readonly Listed[];
}

/** What one relist saw, by pod. */
export type Listing = ReadonlyMap<PodUid, ListedPod>;

/** How a relist would list what an inspection saw. */
export function listedAs(pod: ObservedPod): ListedPod {
  const sandboxes = pod.sandboxes.map(({ id, state }) => ({ id, state: `sandbox ${state}` }));
  const containers = pod.containers.map(({ id, state }) => ({ id, state }));
  return { name: pod.name, namespace: pod.namespace, items: [...sandboxes, ...containers] };
}

/** The pods in which something was added, removed, or changed its state between two listings. */
export function diffListing(before: Listing, after: Listing): readonly PodUid[] {
  const changed: PodUid[] = [];
  for (const [uid, { items }] of after) {
    if (!sameItems(before.get(uid)?.items ?? [], items)) changed.push(uid);
  }
  for (const uid of before.keys()) {
    if (!after.has(uid)) changed.push(uid);
  }
  return changed;
}

function sameItems(before: readonly Listed[], after: readonly Listed[]): boolean {
  if (before.length !== after.length) return false;
  const states = new Map(before.map((item) => [item.id, item.state]));
  return after.every((item) => states.get(item.id) === item.state);
}
