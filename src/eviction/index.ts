export { LocalStorageEviction } from './local-storage-eviction.ts';
