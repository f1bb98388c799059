export { LocalStorageEviction, type LocalStorageEvictionDeps } from './local-storage-eviction.ts';
export type { EvictablePods, EvictionEvents, StorageMeter, StorageUsage } from './ports.ts';
