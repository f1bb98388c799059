import type { PodUid } from '../../base/ids.ts';
import type { CgroupSetting } from '../../model/cgroup-values.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
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

export interface Pods {
  /** Those that run here or shall run. */
  active(): readonly DesiredPod[];
  /** Every source has said what it wants. */
  complete(): boolean;
  /** Nobody wants the pod, looks after it or has anything else of it. */
  isUnknown(uid: PodUid): Promise<boolean>;
}

/** Events about the node. */
export interface NodeEvents {
  record(event: { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string }): void;
}
