export { PodSync, type PodSyncDeps, type SyncResult } from './pod-sync.ts';
export type { Deadlines, StatusInput } from './ports.ts';
