export { podsOnDisk, PodDirectories } from './pod-directories.ts';
export type { Files } from './ports.ts';
