export { PodRuntime, type PodRuntimeDeps } from './pod-runtime.ts';
export type { PodEvents } from './ports.ts';
export { prepareContainer, type PrepareDeps } from './prepare-container.ts';
export { StartErrors } from './start-errors.ts';
export { nodeHookRequests } from './hook-requests.ts';
export { RestartBackoff } from './restart-backoff.ts';
export type { HookRequests } from './run-hook.ts';
export { type TerminationMessageFiles } from './read-termination-message.ts';
export { withTerminationMessages } from './with-termination-messages.ts';
