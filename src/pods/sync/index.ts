export { PodSync, type PodSyncDeps } from './pod-sync.ts';
