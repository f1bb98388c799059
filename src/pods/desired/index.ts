export { nodeIdentity } from './compute-mirror.ts';
export { DesiredPods } from './desired-pods.ts';
export { MirrorPodReconciler } from './mirror-pod-reconciler.ts';
export { MirrorPods } from './mirror-pods.ts';
