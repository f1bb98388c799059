export { computeMirrorAction, mirrorOf, nodeIdentity, type NodeIdentity } from './compute-mirror.ts';
export { DesiredPods } from './desired-pods.ts';
export { MirrorKeeper, type MirrorKeeperDeps } from './mirror-keeper.ts';
export { MirrorPods } from './mirror-pods.ts';
