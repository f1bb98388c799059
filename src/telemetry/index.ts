export { absentMetrics, reasonForAbsence } from './absent-metrics.ts';
export { createLog, type LogOptions, type LogSink } from './create-log.ts';
export { EngineMetrics } from './engine-metrics.ts';
export { floatText } from './exposition.ts';
export { defaultBuckets, exponentialBuckets } from './histogram.ts';
export { processMetrics, startTimeMetric } from './process-metrics.ts';
export { Registry, type FamilyShape, type RegistryOptions } from './registry.ts';
export { registryMetrics } from './registry-metrics.ts';
export { parseVmodule, type VmoduleRule } from './vmodule.ts';
