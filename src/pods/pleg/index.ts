export { ObservedPods } from './observed-pods.ts';
export { Pleg, type PlegDeps } from './pleg.ts';
export type { ObservableRuntime } from './ports.ts';
