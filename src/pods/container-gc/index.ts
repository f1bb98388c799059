export { computeEvictable, type Evictable, type GcPolicy, type GcUnit } from './compute-evictable.ts';
export { computePrune, type Prune } from './compute-prune.ts';
export { ContainerGc, type ContainerGcDeps } from './container-gc.ts';
export type { GcLogs, GcPod, GcPods, GcRuntime } from './ports.ts';
