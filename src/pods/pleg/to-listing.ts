import type { PodUid } from '../../base/ids.ts';
import type { Container, PodSandbox } from '../../gen/cri/api.ts';
import { podNameLabel, podNamespaceLabel } from '../../model/labels.ts';
import type { Listed, ListedPod, Listing } from './diff-listing.ts';
import { containerState, sandboxState, uidOf } from './to-observed.ts';

/** Sorts what the runtime listed by pod; what no kubelet made is left out. */
export function toListing(sandboxes: readonly PodSandbox[], containers: readonly Container[]): Listing {
  const pods = new Map<PodUid, ListedPod & { readonly items: Listed[] }>();
  const add = (labels: Readonly<Record<string, string>>, item: Listed): void => {
    const uid = uidOf(labels);
    if (uid === undefined) return;
    const pod = pods.get(uid);
    if (pod !== undefined) pod.items.push(item);
    else pods.set(uid, { name: labels[podNameLabel] ?? '', namespace: labels[podNamespaceLabel] ?? '', items: [item] });
  };
  for (const { id, state, labels } of sandboxes) add(labels, { id, state: `sandbox ${sandboxState(state)}` });
  for (const { id, state, labels } of containers) add(labels, { id, state: containerState(state) });
  return pods;
}
