export { podResourcesMetrics } from './pod-resources-metrics.ts';
export { PodResourcesServer } from './pod-resources-server.ts';
export { nothingHeld, type HoldingPod, type ResourceBooks } from './ports.ts';
