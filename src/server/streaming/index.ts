export { handOver } from './hand-over.ts';
export type { CheckpointFolders } from './ports.ts';
export type { SessionDeps } from './session.ts';
