export { createEviction, type Eviction, type EvictionDeps, type EvictionSettings } from './create-eviction.ts';
export { LocalStorageEviction, type LocalStorageEvictionDeps } from './local-storage-eviction.ts';
export type { ActivePods, EvictionEvents, PodTermination, StorageMeter, StorageUsage } from './ports.ts';
