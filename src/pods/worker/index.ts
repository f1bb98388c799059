export { PodLifecycles } from './pod-lifecycles.ts';
export { tracedSyncer } from './traced-syncer.ts';
export { PodWorkers } from './pod-workers.ts';
export type { WorkerState } from './state.ts';
