import type { CallOptions } from '../../base/call.ts';
import type { PodUid } from '../../base/ids.ts';
import type { RemoveContainerRequest, RemovePodSandboxRequest } from '../../gen/cri/api.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';

export interface GcPod {
  readonly observed: ObservedPod;
  /** The pod has ended for good and nobody will ask for its containers any more: all of them may go. */
  readonly contentRemovable: boolean;
}

export interface GcPods {
  /** Pods that still exist, as they were last observed. Those that are gone are housekeeping's. */
  existing(): Iterable<GcPod>;
  /** Looks at a pod anew, for others to see what has been removed. */
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
