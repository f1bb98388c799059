import type { PodUid } from '../../base/ids.ts';
import type { CgroupMissing } from '../../model/cgroup-missing.ts';
import type { CgroupName } from '../../model/cgroup-names.ts';
import type { CgroupSetting, CgroupValues } from '../../model/cgroup-values.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { ObjectEvent } from '../../model/object-event.ts';
import type { ProcessCgroups } from '../../model/process-cgroups.ts';

/** A driver of cgroups: one way to make, change and remove a cgroup by its name. */
export interface CgroupManager {
  /** Where the cgroup is, for logs. */
  pathOf(name: CgroupName): string;
  /** Why the cgroup does not count as there; undefined when it does. */
  missing(name: CgroupName): string | undefined;
  /** Makes it where it is not there, and gives it the values. */
  create(name: CgroupName, values: CgroupValues): Promise<void>;
  /** Absent values stay as they are. */
  update(name: CgroupName, values: CgroupValues): Promise<void>;
  /** Kills what runs there, then removes it with all below it. One that is not there counts as removed. */
  destroy(name: CgroupName): Promise<TreeRemoval>;
  /** Those directly below that this driver could have made. */
  children(name: CgroupName): readonly CgroupName[];
  /** Bytes in use now. */
  memoryUsage(name: CgroupName): bigint;
}

/** The machine's cgroups by path, in all trees at once. */
export interface CgroupTree {
  /** What it lacks to count as there; undefined when it lacks nothing. */
  missing(path: string): CgroupMissing | undefined;
  /** Makes it with all above it that are not there yet; `besideSystemd` where systemd makes it in its own tree. */
  make(path: string, options?: { readonly besideSystemd?: boolean }): void;
  write(path: string, settings: readonly CgroupSetting[]): void;
  read(path: string, controller: string, file: string): string | undefined;
  /** Names of those directly below. */
  children(path: string): readonly string[];
  /** Kills what runs there and below. `busy` names the cgroups in which something is left. */
  kill(path: string): Promise<{ readonly busy: readonly string[]; readonly processes: readonly number[] }>;
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
  /** Known to a source, a worker or the runtime; else whether anything of it is left on disk. */
  trace(uid: PodUid): Promise<'known' | 'onDisk' | 'none'>;
}

/** The cgroups of pods. */
export interface PodContainerManager {
  /** False when the pod's containers, if there are any, live elsewhere. */
  exist(pod: DesiredPod): boolean;
  /** Makes the pod's cgroup with its limits, where it is not there yet. */
  ensure(pod: DesiredPod): Promise<void>;
  /** Removes the pod's cgroups, wherever its QoS class put them. */
  remove(uid: PodUid): Promise<void>;
}

/** Events about the node. */
export interface NodeEvents {
  record(event: ObjectEvent): void;
}
