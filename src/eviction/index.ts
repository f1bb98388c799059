export { LocalStorageEviction } from './local-storage-eviction.ts';
export type { StorageUsage } from './ports.ts';
