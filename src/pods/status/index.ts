export { PodStarts } from './pod-starts.ts';
export { PodStatuses } from './pod-statuses.ts';
export { StatusPublisher } from './status-publisher.ts';
export { StatusWriter } from './status-writer.ts';
export { ShutdownEnds } from './shutdown-ends.ts';
