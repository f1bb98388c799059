export { containerdEventSource } from './event-sources.ts';
export { ObservedPods } from './observed-pods.ts';
export { Pleg } from './pleg.ts';
export type { RuntimeEventSource, ObservableRuntime } from './ports.ts';
