import type { CallOptions } from '../../base/call.ts';
import type { PodUid } from '../../base/ids.ts';
import type { RemoveContainerRequest, RemovePodSandboxRequest } from '../../gen/cri/api.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';

export interface GcPod {
  readonly observed: ObservedPod;
  /** The pod has ended for good and its containers are not needed any more: all of them may be removed. */
  readonly contentRemovable: boolean;
}

export interface GcPods {
  /** Pods that still exist, as they were last observed. Housekeeping removes the containers of the others. */
  existing(): Iterable<GcPod>;
  /** Inspects a pod anew, so that observations show what has been removed. */
  inspect(uid: PodUid, signal: AbortSignal): Promise<unknown>;
}

export interface GcRuntime {
  removeContainer(request: RemoveContainerRequest, options?: CallOptions): Promise<unknown>;
  removePodSandbox(request: RemovePodSandboxRequest, options?: CallOptions): Promise<unknown>;
}

export interface GcLogs {
  /** Removes all files of a container's log. */
  remove(path: string): Promise<void>;
}
