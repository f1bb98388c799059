export { podResourcesMetrics } from './pod-resources-metrics.ts';
export { PodResourcesServer, type PodResourcesServerDeps } from './pod-resources-server.ts';
export { nothingHeld, type HoldingPod, type Holdings, type ResourceBooks } from './ports.ts';
