export { absentMetrics, reasonForAbsence } from './absent-metrics.ts';
export { createLog, type LogSink } from './create-log.ts';
export { nodeEngine, type EngineMeter } from './engine-meter.ts';
export { EngineMetrics } from './engine-metrics.ts';
export { exponentialBuckets } from './histogram.ts';
export { processMetrics, startTimeMetric } from './process-metrics.ts';
export { Registry, type FamilyShape } from './registry.ts';
export { registryMetrics } from './registry-metrics.ts';
