export { containerdHints, criHints } from './hint-streams.ts';
export { ObservedPods } from './observed-pods.ts';
export { Pleg, type PlegDeps } from './pleg.ts';
export type { Hint, HintedState, HintStream, LowLevelEvent, LowLevelEvents, ObservableRuntime } from './ports.ts';
