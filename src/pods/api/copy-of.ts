import type { Pod } from '../../gen/kubernetes/types.ts';
import type { Mirror } from '../../model/api-client.ts';
import { isStatic, type DesiredPod } from '../../model/desired-pod.ts';

/** The object that shows the pod at the API server: its own, not another one of its name, or a static pod's mirror pod. */
export function copyOf(
  pod: DesiredPod,
  pods: Pick<Mirror<Pod>, 'get'>,
  mirrors: { of(pod: DesiredPod): Pod | undefined },
): Pod | undefined {
  if (isStatic(pod)) return mirrors.of(pod);
  const copy = pods.get({ namespace: pod.namespace, name: pod.name });
  return copy?.metadata?.uid === pod.uid ? copy : undefined;
}
