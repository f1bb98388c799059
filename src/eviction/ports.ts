import type { PodUid } from '../base/ids.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import type { ObjectEvent } from '../model/object-event.ts';
import type { PodStorageUsage } from '../model/usage.ts';

export interface ActivePods {
  /** Pods whose containers may run. */
  activePods(): readonly DesiredPod[];
}

export interface PodTermination {
  /** Terminates a pod that its source still names. */
  terminate(
    uid: PodUid,
    how: { readonly graceSeconds: number; readonly decided: { readonly reason: string; readonly message: string } },
  ): void;
}

export interface StorageMeter {
  /** Measures pods, their volumes alone or all their usage; leaves out those that do not run. */
  storage(scopes: ReadonlyMap<PodUid, 'volumes' | 'everything'>): Promise<ReadonlyMap<PodUid, PodStorageUsage>>;
}

export interface EvictionEvents {
  record(pod: DesiredPod, event: ObjectEvent): void;
}
