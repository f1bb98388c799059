export { PodSync, type PodSyncDeps } from './pod-sync.ts';
export type { Cgroups } from './ports.ts';
