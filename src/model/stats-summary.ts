/** The page `/stats/summary` as it goes over the wire; times are RFC 3339 with seconds. */
export interface Summary {
  readonly node: NodeStats;
  readonly pods: readonly PodStats[];
}

export interface NodeStats {
  readonly nodeName: string;
  readonly systemContainers?: readonly ContainerStats[];
  readonly startTime: string;
  readonly cpu?: CpuStats;
  readonly memory?: MemoryStats;
  readonly io?: IoStats;
  readonly network?: NetworkStats;
  readonly fs?: FsStats;
  readonly runtime?: { readonly imageFs?: FsStats; readonly containerFs?: FsStats };
  readonly rlimit?: { readonly time: string; readonly maxpid?: number; readonly curproc?: number };
  readonly swap?: SwapStats;
}

export interface PodStats {
  readonly podRef: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly startTime: string;
  readonly containers: readonly ContainerStats[];
  readonly cpu?: CpuStats;
  readonly memory?: MemoryStats;
  readonly io?: IoStats;
  readonly network?: NetworkStats;
  readonly volume?: readonly VolumeStats[];
  readonly 'ephemeral-storage'?: FsStats;
  readonly process_stats?: { readonly process_count?: number };
  readonly swap?: SwapStats;
}

export interface ContainerStats {
  readonly name: string;
  readonly startTime: string;
  readonly cpu?: CpuStats;
  readonly memory?: MemoryStats;
  readonly io?: IoStats;
  readonly rootfs?: FsStats;
  readonly logs?: FsStats;
  readonly swap?: SwapStats;
}

export interface CpuStats {
  readonly time: string;
  readonly usageNanoCores?: number;
  readonly usageCoreNanoSeconds?: number;
  readonly psi?: PsiStats;
}

export interface MemoryStats {
  readonly time: string;
  readonly availableBytes?: number;
  readonly usageBytes?: number;
  readonly workingSetBytes?: number;
  readonly rssBytes?: number;
  readonly pageFaults?: number;
  readonly majorPageFaults?: number;
  readonly psi?: PsiStats;
}

export interface IoStats {
  readonly time: string;
  readonly psi?: PsiStats;
}

export interface PsiStats {
  readonly full: PsiData;
  readonly some: PsiData;
}

export interface PsiData {
  readonly total: number;
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
}

export interface SwapStats {
  readonly time: string;
  readonly swapAvailableBytes?: number;
  readonly swapUsageBytes?: number;
}

export interface NetworkStats extends Partial<InterfaceStats> {
  readonly time: string;
  readonly interfaces?: readonly InterfaceStats[];
}

export interface InterfaceStats {
  readonly name: string;
  readonly rxBytes?: number;
  readonly rxErrors?: number;
  readonly txBytes?: number;
  readonly txErrors?: number;
}

export interface FsStats {
  readonly time: string;
  readonly availableBytes?: number;
  readonly capacityBytes?: number;
  readonly usedBytes?: number;
  readonly inodesFree?: number;
  readonly inodes?: number;
  readonly inodesUsed?: number;
}

export interface VolumeStats extends FsStats {
  readonly name: string;
  readonly pvcRef?: { readonly name: string; readonly namespace: string };
  readonly volumeHealthStats?: { readonly abnormal: boolean };
}
