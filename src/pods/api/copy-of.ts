import type { Pod } from '../../gen/kubernetes/types.ts';
import type { Mirror } from '../../model/api-client.ts';
import { isStatic, type DesiredPod } from '../../model/desired-pod.ts';

/** The pod's object at the API server: the one with its uid, or the mirror pod of a static pod. */
export function copyOf(
  pod: DesiredPod,
  pods: Pick<Mirror<Pod>, 'get'>,
  mirrors: { of(pod: DesiredPod): Pod | undefined },
): Pod | undefined {
  if (isStatic(pod)) return mirrors.of(pod);
  const copy = pods.get({ namespace: pod.namespace, name: pod.name });
  return copy?.metadata?.uid === pod.uid ? copy : undefined;
}
