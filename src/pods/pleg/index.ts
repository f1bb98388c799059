export { containerdHints } from './hint-streams.ts';
export { ObservedPods } from './observed-pods.ts';
export { Pleg } from './pleg.ts';
export type { HintStream, ObservableRuntime } from './ports.ts';
