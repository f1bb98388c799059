export { type GcPolicy } from './compute-evictable.ts';
export { computePrune } from './compute-prune.ts';
export { ContainerGc, type ContainerGcDeps } from './container-gc.ts';
