export { podResourcesMetrics } from './pod-resources-metrics.ts';
export { PodResourcesServer } from './pod-resources-server.ts';
export { noAllocations, type AllocatedPod, type ResourceAllocations } from './ports.ts';
