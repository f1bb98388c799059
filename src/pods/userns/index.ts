export { blockCount } from './id-blocks.ts';
export { readIdSpace } from './read-id-space.ts';
export { UserNamespaces, type UserNamespacesDeps } from './user-namespaces.ts';
