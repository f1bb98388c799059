import type { ContainerId } from '../../base/ids.ts';
import type { LogFields } from '../../base/log.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';
import { podFields } from '../../model/pod-log.ts';
import type { PodReference } from '../../model/pod-reference.ts';

/** The log of one instance of a container. */
export interface ContainerLog {
  readonly id: ContainerId;
  readonly container: string;
  readonly pod: PodReference;
  /** Of the file it writes to now. */
  readonly path: string;
  readonly running: boolean;
}

/** The logs of a pod's containers that have been started, running or not. */
export function containerLogsOf(pod: ObservedPod): readonly ContainerLog[] {
  const { uid, name, namespace } = pod;
  return pod.containers
    .filter(({ logPath, startedAt }) => logPath !== '' && startedAt > 0)
    .map(({ id, name: container, logPath: path, state }) => ({
      id,
      container,
      pod: { uid, name, namespace },
      path,
      running: state === 'running',
    }));
}

/** The fields of log lines about a container's log. */
export function logFields({ pod, container, id }: Pick<ContainerLog, 'pod' | 'container' | 'id'>): LogFields {
  return { ...podFields(pod), containerName: container, containerID: id };
}

/** The longest file name, and the ending that has to fit behind the part that is cut. */
const maxNameLength = 255;
const suffix = '.log';

/** `<pod>_<namespace>_<container>-<id>.log`: log collectors parse pod, namespace and container from it. */
export function linkName({ pod, container, id }: Pick<ContainerLog, 'pod' | 'container' | 'id'>): string {
  return `${pod.name}_${pod.namespace}_${container}-${id}`.slice(0, maxNameLength - suffix.length) + suffix;
}
