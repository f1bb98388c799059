import type { PodUid } from '../base/ids.ts';
import { namedObjects } from '../model/object-references.ts';
import { objectKey, type DataObjectReference } from '../model/standalone-object.ts';
import type { ReferringPod } from './ports.ts';

/** Every ConfigMap and Secret that a pod names, each once. A pod can name only objects of its own namespace. */
export function references({ namespace, spec }: Omit<ReferringPod, 'uid'>): readonly DataObjectReference[] {
  const found = new Map<string, DataObjectReference>();
  for (const { kind, name } of namedObjects(spec)) {
    const reference = { kind, namespace, name };
    found.set(objectKey(reference), reference);
  }
  return [...found.values()];
}

/** The pods that name one of the objects, and must sync when it changes. */
export function referrers(objects: readonly DataObjectReference[], pods: Iterable<ReferringPod>): readonly PodUid[] {
  const keys = new Set(objects.map(objectKey));
  const concerned = [...pods].filter((pod) => references(pod).some((reference) => keys.has(objectKey(reference))));
  return concerned.map(({ uid }) => uid);
}
