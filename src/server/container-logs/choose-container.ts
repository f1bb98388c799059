import { containerId, type ContainerId } from '../../base/ids.ts';
import type { ContainerStatus, PodStatus } from '../../gen/kubernetes/types.ts';
import { goQuote } from '../../model/go-text.ts';
import { startReasons } from '../../model/reasons.ts';

type ChosenContainer =
  /** As it stands in the status: `containerd://<id>`. */
  { readonly kind: 'container'; readonly id: string } | { readonly kind: 'none'; readonly message: string };

/** Which instance of a container has the log that is asked for, by the pod's status. */
export function chooseContainer(
  pod: { readonly name: string; readonly status: PodStatus | undefined },
  container: string,
  previous: boolean,
): ChosenContainer {
  const named = `container ${goQuote(container)} in pod ${goQuote(pod.name)}`;
  const status = findStatus(pod.status, container);
  if (status === undefined) return none(`${named} is not available`);
  const last = status.lastState?.terminated;
  const { running, terminated, waiting } = status.state ?? {};
  if (previous) return chosen(last?.containerID) ?? none(`previous terminated ${named} not found`);
  if (running !== undefined) return chosen(status.containerID) ?? none(`${named} is waiting to start - no logs yet`);
  // One that ended without ever having begun has no id; then the one before it is the last that said anything.
  if (terminated !== undefined) {
    return chosen(terminated.containerID) ?? chosen(last?.containerID) ?? none(`${named} is terminated`);
  }
  if (last !== undefined) return chosen(last.containerID) ?? none(`${named} is terminated`);
  if (waiting !== undefined) return none(`${named} is waiting to start: ${whyWaiting(waiting.reason ?? '')}`);
  return none(`${named} is waiting to start - no logs yet`);
}

/** The id alone, as the runtime knows it. */
export function bareContainerId(id: string): ContainerId {
  const scheme = id.indexOf('://');
  return containerId(scheme < 0 ? id : id.slice(scheme + 3));
}

function findStatus(status: PodStatus | undefined, container: string): ContainerStatus | undefined {
  return [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []),
    ...(status?.ephemeralContainerStatuses ?? []),
  ].find(({ name }) => name === container);
}

function whyWaiting(reason: string): string {
  if (reason === startReasons.errImagePull) return "image can't be pulled";
  if (reason === startReasons.imagePullBackOff) return 'trying and failing to pull image';
  return reason;
}

const chosen = (id: string | undefined): ChosenContainer | undefined =>
  id === undefined || id === '' ? undefined : { kind: 'container', id };

const none = (message: string): ChosenContainer => ({ kind: 'none', message });
