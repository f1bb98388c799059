import type { CallOptions } from '../base/call.ts';
import type { PodUid } from '../base/ids.ts';
import type {
  ImageFsInfoRequest,
  ImageFsInfoResponse,
  ListContainerStatsRequest,
  ListContainerStatsResponse,
} from '../gen/cri/api.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import type { ObservedPod } from '../model/observed-pod.ts';
import type { CgroupUsage, FilesystemUsage, InterfaceUsage } from '../model/usage.ts';

/** How much of a cgroup is read: what summaries are made of, or all that the kernel tells, which costs four times as much. */
export type UsageDepth = 'core' | 'everything';

/** Cgroups by their path below the mount. Reads are synchronous: these are pseudo-files. */
export interface CgroupReader {
  /** A page that shows everything begins. */
  begin(): void;
  /** Undefined when there is no such cgroup. At depth `core` what only `everything` reads is undefined, empty or 0. */
  read(path: string, depth: UsageDepth): CgroupUsage | undefined;
  /** The processes of the cgroup itself. */
  processes(path: string): readonly number[];
  /** Wall milliseconds, as far as the kernel remembers. */
  createdAt(path: string): number | undefined;
  /** Nobody asks any more. */
  close(): void;
}

/** The machine, from /proc. */
export interface MachineReader {
  /** The network that a process sees; nothing when it is gone. */
  interfaces(pid: number | 'self'): readonly InterfaceUsage[];
  memory(): { readonly swapFree: number };
  threads(): { readonly most: number | undefined; readonly now: number | undefined };
  /** Wall milliseconds. */
  bootTime(): number | undefined;
}

/** What files take on a disk. */
export interface TreeSize {
  readonly bytes: number;
  readonly inodes: number;
}

/** Real disks, which may be slow, or never answer. */
export interface Disk {
  /** The file system that a path is on. */
  filesystem(path: string): Promise<FilesystemUsage>;
  /** Those of the machine, with their devices. */
  filesystems(): Promise<readonly FilesystemUsage[]>;
  device(path: string): string | undefined;
  /** A tree with its root, on one file system. */
  tree(path: string, signal: AbortSignal): Promise<TreeSize>;
  /** What is in each folder below one, and the files beside them. */
  folders(
    path: string,
    signal: AbortSignal,
  ): Promise<{ readonly files: TreeSize; readonly folders: ReadonlyMap<string, TreeSize> }>;
  isMountPoint(path: string): Promise<boolean>;
}

/** What only the runtime knows. */
export interface StatsRuntime {
  listContainerStats(request: ListContainerStatsRequest, options?: CallOptions): Promise<ListContainerStatsResponse>;
  imageFsInfo(request: ImageFsInfoRequest, options?: CallOptions): Promise<ImageFsInfoResponse>;
}

/** A pod that is wanted here, and what was last seen of it in the runtime. */
export interface SeenPod {
  readonly pod: DesiredPod;
  /** When the agent took it on, as its status says. */
  readonly startTime: string | undefined;
  readonly seen: ObservedPod;
}

export interface StatsPods {
  /** Those of which the runtime has anything. */
  all(): readonly SeenPod[];
}

/** A volume of a pod that is mounted and has a size of its own; what belongs to the node (hostPath) is none. */
export interface PodVolume {
  readonly name: string;
  readonly path: string;
  /** Ephemeral ones on the node's disk count as the pod's ephemeral storage. */
  readonly kind: 'ephemeral' | 'persistent';
  readonly pvc?: { readonly name: string; readonly namespace: string };
}

export type VolumesOf = (uid: PodUid) => readonly PodVolume[];

/** How a volume was measured: its files were walked through, or its file system was asked. */
export type VolumeSource = 'du' | 'statfs';

/** What the logs of a container that runs take on the disk. */
export interface LogSize {
  readonly uid: PodUid;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly bytes: number;
}
