export { PodLifecycles } from './pod-lifecycles.ts';
export { tracedSyncer } from './traced-syncer.ts';
export { PodWorkers, type PodWorkersDeps } from './pod-workers.ts';
export type { OrphanTarget, PodSyncer, SyncOutcome, Termination } from './ports.ts';
export type { KillDecision, PodTarget, WorkerState } from './state.ts';
