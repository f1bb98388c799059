import type { PodUid } from '../../base/ids.ts';
import type { CgroupSetting } from '../../model/cgroup-values.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { ObjectEvent } from '../../model/object-event.ts';
import type { ProcessCgroups } from '../../model/process-cgroups.ts';

/** The machine's cgroups by path, in all trees at once. */
export interface CgroupTree {
  /** In all trees that count, in some, in none. */
  presence(path: string): 'whole' | 'partly' | 'none';
  /** Makes it with all above it that are not there yet. */
  make(path: string): void;
  write(path: string, settings: readonly CgroupSetting[]): void;
  read(path: string, controller: string, file: string): string | undefined;
  /** Names of those directly below. */
  children(path: string): readonly string[];
  /** Kills what runs there, then removes it with all below it. */
  remove(path: string): Promise<TreeRemoval>;
}

export interface TreeRemoval {
  readonly removed: boolean;
  /** Cgroups that could not be emptied. */
  readonly busy?: readonly string[];
  /** Processes that were killed. */
  readonly processes: readonly number[];
}

/** Where the agent's own process is among the cgroups. */
export interface ProcessTree {
  readonly version: 1 | 2;
  own(): ProcessCgroups;
  /** Whether the process is in that cgroup, in every tree. */
  isInside(path: string): boolean;
  make(path: string): void;
  enter(path: string): Promise<void>;
}

/** The pods as cgroups need them. */
export interface CgroupPods {
  /** Pods that run here or are to run. */
  active(): readonly DesiredPod[];
  /** Every source has been read once. */
  complete(): boolean;
  /** No source names the pod, no worker has it, and nothing of it is in the runtime or on disk. */
  isUnknown(uid: PodUid): Promise<boolean>;
}

/** The cgroups of pods, made by the agent or by the runtime. */
export interface PodContainerManager {
  /** False when the pod's containers, if there are any, live elsewhere. */
  exist(pod: DesiredPod): boolean;
  /** Makes the pod's cgroup with its limits, where it is not there yet. */
  ensure(pod: DesiredPod): Promise<void>;
  /** Removes the pod's cgroups, wherever its QoS class put them. */
  remove(uid: PodUid): Promise<void>;
}

/** Removes an empty cgroup with those below it. `busy` names the cgroups that still have processes. */
export type RemoveEmpty = (
  path: string,
) => Promise<{ readonly removed: true } | { readonly removed: false; readonly busy: readonly string[] }>;

/** Events about the node. */
export interface NodeEvents {
  record(event: ObjectEvent): void;
}
