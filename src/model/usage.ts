/**
 * What one cgroup uses, as the kernel reports it at one moment. A part is absent where the kernel does not report it: the
 * two versions of cgroups know different things. Times of use are nanoseconds, sizes bytes.
 */
export interface CgroupUsage {
  /** From the root of the hierarchies: `/kubepods/burstable/pod…`. */
  readonly path: string;
  /** Wall time in milliseconds at which it was read. */
  readonly at: number;
  /** When the cgroup was made, in wall milliseconds. */
  readonly createdAt: number | undefined;
  readonly cpu: CpuUsage | undefined;
  readonly memory: MemoryUsage | undefined;
  readonly processes: ProcessUsage | undefined;
  readonly devices: readonly DeviceUsage[];
  /** Only where the kernel counts pressure, and the gate KubeletPSI is on. */
  readonly pressure: Readonly<Partial<Record<'cpu' | 'memory' | 'io', Pressure>>>;
  readonly limits: UsageLimits;
}

export interface CpuUsage {
  readonly totalNs: number;
  readonly userNs: number;
  readonly systemNs: number;
  /** Only where a quota can be set. */
  readonly throttling?: { readonly periods: number; readonly throttledPeriods: number; readonly throttledNs: number };
}

export interface MemoryUsage {
  readonly usage: number;
  readonly maxUsage: number | undefined;
  /** Usage without the page cache that is easily given back. */
  readonly workingSet: number;
  readonly rss: number;
  readonly cache: number;
  readonly mappedFile: number;
  readonly swap: number;
  readonly kernel: number;
  readonly activeFile: number;
  readonly inactiveFile: number;
  readonly failures: number;
  /** Of the cgroup itself and with all below it. */
  readonly faults: { readonly own: Faults; readonly all: Faults };
  readonly oomEvents: number | undefined;
}

interface Faults {
  readonly minor: number;
  readonly major: number;
}

export interface ProcessUsage {
  readonly processes: number;
  readonly threads: number | undefined;
  readonly threadsMax: number | undefined;
  /** Counted only on request, because that walks /proc. */
  readonly fileDescriptors: number | undefined;
  readonly sockets: number | undefined;
  readonly openFilesSoftLimit: number | undefined;
}

export interface DeviceUsage {
  readonly major: number;
  readonly minor: number;
  /** `/dev/sda`; empty where it is unknown. */
  readonly device: string;
  readonly readBytes: number;
  readonly writeBytes: number;
  readonly reads: number;
  readonly writes: number;
}

/** Microseconds are what the kernel counts `total` in. */
export interface Pressure {
  readonly some: PressureLine;
  readonly full: PressureLine;
}

export interface PressureLine {
  readonly totalUs: number;
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
}

export interface UsageLimits {
  readonly cpuShares: number | undefined;
  readonly cpuQuotaUs: number | undefined;
  readonly cpuPeriodUs: number | undefined;
  /** Absent where nothing limits it. */
  readonly memory: number | undefined;
  readonly memorySwap: number | undefined;
  readonly memoryReservation: number | undefined;
}

/** One network interface, as /proc/<pid>/net/dev counts it. */
export interface InterfaceUsage {
  readonly name: string;
  readonly rxBytes: number;
  readonly rxPackets: number;
  readonly rxErrors: number;
  readonly rxDropped: number;
  readonly txBytes: number;
  readonly txPackets: number;
  readonly txErrors: number;
  readonly txDropped: number;
}

/** Space and inodes of a file system, or of what one tree takes on it. */
export interface FilesystemUsage {
  readonly at: number;
  readonly device?: string;
  readonly capacity: number | undefined;
  readonly available: number | undefined;
  readonly used: number | undefined;
  readonly inodes: number | undefined;
  readonly inodesFree: number | undefined;
  readonly inodesUsed: number | undefined;
  /** The I/O of the disk it lies on, where the kernel reports it. */
  readonly disk?: DiskActivity;
}

/** One disk or partition, as /proc/diskstats counts it. Sectors have 512 bytes, times are milliseconds. */
export interface DiskActivity {
  readonly reads: number;
  readonly readsMerged: number;
  readonly sectorsRead: number;
  readonly readMs: number;
  readonly writes: number;
  readonly writesMerged: number;
  readonly sectorsWritten: number;
  readonly writeMs: number;
  readonly inProgress: number;
  readonly busyMs: number;
  readonly weightedMs: number;
}

/** The pod and container of a cgroup; the root, the QoS tiers and system services have none. */
export interface CgroupOwner {
  readonly namespace: string;
  readonly pod: string;
  readonly podUid: string;
  /** The container's name, `POD` for the sandbox's own; empty for the pod's cgroup. */
  readonly container: string;
  /** The runtime's id, and the image it was made from; empty for the pod's cgroup. */
  readonly id: string;
  readonly image: string;
}

export interface OwnedUsage {
  readonly usage: CgroupUsage;
  readonly owner: CgroupOwner | undefined;
  /** On the sandbox only: what the pod's network has carried; on the root: the machine's. */
  readonly network: readonly InterfaceUsage[];
  /** What the container wrote into its own layer; on the root: the file systems of the machine. */
  readonly filesystems: readonly FilesystemUsage[];
}

/** Every cgroup that the stats pages show, read at one moment. */
export interface UsageSnapshot {
  readonly at: number;
  /** Gate KubeletPSI: pressure is reported, as zero where the kernel does not count it. */
  readonly pressure: boolean;
  readonly cgroups: readonly OwnedUsage[];
}

/** Facts about the machine, for the machine_* metrics. */
export interface MachineFacts {
  readonly machineId: string;
  readonly systemUuid: string;
  readonly bootId: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  readonly cores: number;
  readonly physicalCores: number;
  readonly sockets: number;
  readonly memoryBytes: number;
  readonly swapBytes: number;
}

/** The limit and the number of threads; undefined for what the kernel does not report. */
export interface ThreadCounts {
  readonly max: number | undefined;
  readonly current: number | undefined;
}

/** The disk usage of files. */
export interface TreeSize {
  readonly bytes: number;
  readonly inodes: number;
}

/** What is in each folder below one, and the files beside them. */
export interface FolderSizes {
  readonly files: TreeSize;
  readonly folders: ReadonlyMap<string, TreeSize>;
}

/** The disk usage of a pod on this node in bytes, as far as it has been measured. */
export interface PodStorageUsage {
  /** By volume name. */
  readonly volumes: ReadonlyMap<string, number>;
  /** By container name: logs, and what was written into the container where that is on the node's own disk. */
  readonly containers: ReadonlyMap<string, number>;
  /** All that counts as ephemeral storage; unset until the pod has been measured. */
  readonly ephemeral?: number;
}
