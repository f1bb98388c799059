import type { PodUid } from '../../base/ids.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';
import type { PodReference, NamespacedName } from '../../model/pod-reference.ts';

export interface Lifecycles {
  uids(): readonly PodUid[];
  knows(uid: PodUid): boolean;
  /** Finished and not named by its source: what the runtime and the disk have of it may be removed. */
  canBeRemoved(uid: PodUid): boolean;
  /** Named again after its removal, and what the runtime and the disk have of it is the history of its new life. */
  continuesFormerLife(uid: PodUid): boolean;
}

export interface Workers {
  adoptOrphan(orphan: PodReference): void;
  forget(uid: PodUid): boolean;
}

export interface Observations {
  listed(): ReadonlyMap<PodUid, NamespacedName>;
  inspect(uid: PodUid, signal: AbortSignal): Promise<ObservedPod>;
}

export interface Remover {
  /** Removes a stopped pod's containers and sandboxes from the runtime. */
  remove(observed: ObservedPod, signal: AbortSignal): Promise<void>;
}

export interface Directories {
  remove(uid: PodUid): Promise<void>;
  uids(): Promise<ReadonlySet<string>>;
}
