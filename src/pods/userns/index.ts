export { blockCount, type IdSpace } from './id-blocks.ts';
export type { Programs, RecordFiles } from './ports.ts';
export { readIdSpace, type IdSpaceReading } from './read-id-space.ts';
export { UserNamespaces, type UserNamespacesDeps } from './user-namespaces.ts';
