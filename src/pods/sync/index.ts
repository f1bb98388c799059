export { PodSync, type PodSyncDeps, type SyncResult } from './pod-sync.ts';
export type { Cgroups, Deadlines, StatusInput } from './ports.ts';
