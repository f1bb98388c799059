import type { NamespacedName } from './pod-reference.ts';

/**
 * The page `/stats/summary` as it goes over the wire; times are RFC 3339 with seconds. Fields that are undefined are left
 * out there.
 */
export interface Summary {
  readonly node: NodeStats;
  readonly pods: readonly PodStats[];
}

export interface NodeStats {
  readonly nodeName: string;
  readonly systemContainers?: readonly ContainerStats[] | undefined;
  readonly startTime: string;
  readonly cpu?: CpuStats | undefined;
  readonly memory?: MemoryStats | undefined;
  readonly io?: IoStats | undefined;
  readonly network?: NetworkStats | undefined;
  readonly fs?: FsStats | undefined;
  readonly runtime?: { readonly imageFs: FsStats | undefined; readonly containerFs: FsStats | undefined };
  readonly rlimit?: {
    readonly time: string;
    readonly maxpid: number | undefined;
    readonly curproc: number | undefined;
  };
  readonly swap?: SwapStats | undefined;
}

export interface PodStats {
  readonly podRef: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly startTime: string;
  readonly containers: readonly ContainerStats[];
  readonly cpu?: CpuStats | undefined;
  readonly memory?: MemoryStats | undefined;
  readonly io?: IoStats | undefined;
  readonly network?: NetworkStats | undefined;
  readonly volume?: readonly VolumeStats[] | undefined;
  readonly 'ephemeral-storage'?: FsStats | undefined;
  readonly process_stats?: { readonly process_count?: number } | undefined;
  readonly swap?: SwapStats | undefined;
}

export interface ContainerStats {
  readonly name: string;
  readonly startTime: string;
  readonly cpu?: CpuStats | undefined;
  readonly memory?: MemoryStats | undefined;
  readonly io?: IoStats | undefined;
  readonly rootfs?: FsStats | undefined;
  readonly logs?: FsStats | undefined;
  readonly swap?: SwapStats | undefined;
}

export interface CpuStats {
  readonly time: string;
  readonly usageNanoCores?: number | undefined;
  readonly usageCoreNanoSeconds?: number | undefined;
  readonly psi?: PsiStats | undefined;
}

export interface MemoryStats {
  readonly time: string;
  readonly availableBytes?: number | undefined;
  readonly usageBytes?: number | undefined;
  readonly workingSetBytes?: number | undefined;
  readonly rssBytes?: number | undefined;
  readonly pageFaults?: number | undefined;
  readonly majorPageFaults?: number | undefined;
  readonly psi?: PsiStats | undefined;
}

export interface IoStats {
  readonly time: string;
  readonly psi?: PsiStats | undefined;
}

export interface PsiStats {
  readonly full: PsiData;
  readonly some: PsiData;
}

interface PsiData {
  readonly total: number;
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
}

export interface SwapStats {
  readonly time: string;
  readonly swapAvailableBytes?: number | undefined;
  readonly swapUsageBytes?: number | undefined;
}

export interface NetworkStats extends Omit<InterfaceStats, 'name'> {
  readonly time: string;
  readonly name?: string | undefined;
  readonly interfaces?: readonly InterfaceStats[] | undefined;
}

export interface InterfaceStats {
  readonly name: string;
  readonly rxBytes?: number | undefined;
  readonly rxErrors?: number | undefined;
  readonly txBytes?: number | undefined;
  readonly txErrors?: number | undefined;
}

export interface FsStats {
  readonly time: string;
  readonly availableBytes?: number | undefined;
  readonly capacityBytes?: number | undefined;
  readonly usedBytes?: number | undefined;
  readonly inodesFree?: number | undefined;
  readonly inodes?: number | undefined;
  readonly inodesUsed?: number | undefined;
}

export interface VolumeStats extends FsStats {
  readonly name: string;
  readonly pvcRef?: NamespacedName | undefined;
  readonly volumeHealthStats?: { readonly abnormal: boolean } | undefined;
}
