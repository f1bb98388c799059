import type { PodUid } from '../../base/ids.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';

export interface Workers {
  uids(): readonly PodUid[];
  /** Finished, and its source does not name it any more. */
  isOver(uid: PodUid): boolean;
  /** Over, wanted again, and what the runtime and the disk have of it is the history of its new life. */
  continuesFormerLife(uid: PodUid): boolean;
  adoptOrphan(orphan: { readonly uid: PodUid; readonly name: string; readonly namespace: string }): void;
  forget(uid: PodUid): boolean;
}

export interface Observations {
  listed(): ReadonlyMap<PodUid, { readonly name: string; readonly namespace: string }>;
  look(uid: PodUid, signal: AbortSignal): Promise<ObservedPod>;
}

export interface Remover {
  /** Takes a stopped pod's containers and sandboxes out of the runtime. */
  remove(observed: ObservedPod, signal: AbortSignal): Promise<void>;
}

export interface Directories {
  remove(uid: PodUid): Promise<void>;
  uids(): Promise<ReadonlySet<string>>;
}
