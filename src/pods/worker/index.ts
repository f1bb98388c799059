export { PodWorkers, type PodWorkersDeps } from './pod-workers.ts';
export type { OrphanTarget, PodLifecycle, PodSyncer, SyncOutcome, Termination } from './ports.ts';
export type { KillDecision, PodTarget, WorkerState } from './state.ts';
