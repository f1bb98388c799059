export { handOver, type HandOverDeps } from './hand-over.ts';
export type { CheckpointFolders, StreamingPod, StreamingPods, StreamingRuntime } from './ports.ts';
export type { SessionDeps } from './session.ts';
