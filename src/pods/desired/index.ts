export { nodeIdentity } from './compute-mirror.ts';
export { DesiredPods } from './desired-pods.ts';
export { MirrorKeeper } from './mirror-keeper.ts';
export { MirrorPods } from './mirror-pods.ts';
