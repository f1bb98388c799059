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
import type { NamespacedName } from '../model/pod-reference.ts';
import type {
  CgroupUsage,
  DiskActivity,
  FilesystemUsage,
  InterfaceUsage,
  TreeSize,
  ThreadCounts,
  FolderSizes,
} from '../model/usage.ts';

/** How much of a cgroup is read: what summaries are made of, or all that the kernel counts, which costs four times as much. */
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
  /** Closes what is kept open for the next reading. */
  close(): void;
}

/** The machine, from /proc. */
export interface MachineReader {
  /** The network that a process sees; empty when the process has ended. */
  interfaces(pid: number | 'self'): readonly InterfaceUsage[];
  memory(): { readonly swapFree: number };
  /** What went through disks and partitions, by their devices. */
  disks(): ReadonlyMap<string, DiskActivity>;
  threads(): ThreadCounts;
  /** Wall milliseconds. */
  bootTime(): number | undefined;
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
  folders(path: string, signal: AbortSignal): Promise<FolderSizes>;
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
  /** From a driver or a server that may never answer, or a block device. Unset: the agent made it, on disk or in memory. */
  readonly origin?: 'elsewhere' | 'device';
  readonly pvc?: NamespacedName;
}

/** The mounted volumes of a pod that are measured. */
export type VolumesOf = (uid: PodUid) => readonly PodVolume[];

/** What is in a volume; unknown values are undefined. */
export interface VolumeUsage extends FilesystemUsage {
  /** Set where a driver reports the health of its volumes. */
  readonly isAbnormal?: boolean;
}

/** Volumes of storage drivers, which know best what is in them. */
export interface DriverUsages {
  /**
   * The usage as the volume's driver reports it, with the driver's name; undefined where the volume has no driver, or one
   * that does not report: the file system is asked then. Must end with the signal.
   */
  volumeUsage(
    volume: { readonly uid: PodUid; readonly name: string; readonly path: string },
    signal: AbortSignal,
  ): Promise<{ readonly driver: string; readonly usage: VolumeUsage } | undefined>;
}

/** Disks that are not the node's own. */
export interface VolumeDisks {
  /** Whether another machine or process serves the file system at a path. Must not touch that file system. */
  isDistant(path: string): boolean;
  /** Asks a file system that may never answer, and so by another process. Settles only when that has ended. */
  distantFilesystem(path: string, signal: AbortSignal): Promise<FilesystemUsage>;
  deviceBytes(path: string): Promise<number>;
}

/** How a volume was measured: `du`, `statfs` and `block`, by whom its files, file system or device were asked, or a driver. */
export type VolumeSource = string;

/** What is in a volume that a claim stands for; what is not known is left out. */
export interface ClaimUsage {
  readonly namespace: string;
  readonly claim: string;
  readonly capacityBytes?: number;
  readonly availableBytes?: number;
  readonly usedBytes?: number;
  readonly inodes?: number;
  readonly inodesFree?: number;
  readonly inodesUsed?: number;
  readonly isAbnormal?: boolean;
}

/** What the logs of a container that runs take on the disk. */
export interface LogSize {
  readonly uid: PodUid;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly bytes: number;
}
