import type { PodUid } from '../base/ids.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import type { ObjectEvent } from '../model/object-event.ts';

export interface ActivePods {
  /** Pods whose containers may run. */
  activePods(): readonly DesiredPod[];
}

export interface PodTermination {
  /** Ends a pod that its source still names. */
  terminate(
    uid: PodUid,
    how: { readonly graceSeconds: number; readonly decided: { readonly reason: string; readonly message: string } },
  ): void;
}

/** What a pod takes of the node's disks, in bytes, as far as it has been measured. */
export interface StorageUsage {
  /** By volume name. */
  readonly volumes: ReadonlyMap<string, number>;
  /** By container name: its logs and what was written into it, as far as that is on the node's own disk. */
  readonly containers: ReadonlyMap<string, number>;
  /** All that counts as ephemeral storage. */
  readonly ephemeral?: number;
}

export interface StorageMeter {
  /** Measures pods, their volumes alone or all their usage; leaves out those that do not run. */
  storage(scopes: ReadonlyMap<PodUid, 'volumes' | 'everything'>): Promise<ReadonlyMap<PodUid, StorageUsage>>;
}

export interface EvictionEvents {
  record(pod: DesiredPod, event: ObjectEvent): void;
}
