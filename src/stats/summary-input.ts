import type { FilesystemUsage, InterfaceUsage, ThreadCounts } from '../model/usage.ts';
import type { PodFolders, PodLogs } from './disk-stats.ts';
import type { RuntimeUsage } from './runtime-usage.ts';

/** What the machine is, as far as a summary shows it. */
export interface SummaryNode {
  readonly name: string;
  readonly bootedAt: number;
  readonly memoryBytes: number;
  readonly swapFree: number;
  /** Whether pressure is reported. */
  readonly pressure: boolean;
}

/** What a whole summary has besides CPU and memory. */
export interface SummaryExtras {
  readonly at: number;
  readonly network: readonly InterfaceUsage[];
  readonly rootFs: FilesystemUsage | undefined;
  readonly runtime: RuntimeUsage | undefined;
  readonly threads: ThreadCounts;
  /** In the order of the pods of the sample. */
  readonly pods: readonly PodExtras[];
}

export interface PodExtras {
  /** Undefined for a pod on the node's network. */
  readonly network: readonly InterfaceUsage[] | undefined;
  readonly processes: number;
  readonly logs: PodLogs | undefined;
  readonly folders: PodFolders | undefined;
}
