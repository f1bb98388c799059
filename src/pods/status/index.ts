export { PodStatuses } from './pod-statuses.ts';
export { StatusPublisher, type StatusPublisherDeps } from './status-publisher.ts';
