import type { ContainerId } from '../../base/ids.ts';
import type { PodStatus } from '../../gen/kubernetes/types.ts';
import type { LastKnown } from './ports.ts';

/** What a pod status says of one container instance; nothing where it is about another instance. */
export function lastKnownIn(
  status: PodStatus | undefined,
  containerName: string,
  id: ContainerId,
): LastKnown | undefined {
  const all = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  const found = all.find(({ name }) => name === containerName);
  // Ids of the API carry the name of the runtime in front.
  if (found?.containerID?.endsWith(`://${id}`) !== true) return undefined;
  return { ready: found.ready, started: found.started === true };
}
