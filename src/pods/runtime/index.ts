export type { ProbeVerdict, ProbeVerdicts } from './pod-actions.ts';
export { PodRuntime, type PodRuntimeDeps } from './pod-runtime.ts';
export type { PodEvent, PodEvents } from './ports.ts';
export { prepareContainer, type PrepareDeps } from './prepare-container.ts';
export { StartErrors } from './start-errors.ts';
