export { PodSync, type PodSyncDeps, type SyncResult } from './pod-sync.ts';
export type { StatusInput } from './ports.ts';
