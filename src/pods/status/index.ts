export { PodStarts } from './pod-starts.ts';
export { PodStatuses } from './pod-statuses.ts';
export { StatusPublisher, type StatusPublisherDeps } from './status-publisher.ts';
export { StatusWriter, type StatusWriterDeps } from './status-writer.ts';
