export { createLog, type LogOptions, type LogSink } from './create-log.ts';
export { floatText } from './exposition.ts';
export { defaultBuckets, exponentialBuckets } from './histogram.ts';
export { Registry, type RegistryOptions } from './registry.ts';
export { SourcePositions, type SourcePosition } from './source-position.ts';
export { parseVmodule, type VmoduleRule } from './vmodule.ts';
