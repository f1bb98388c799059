export { nodeEngine } from './node-engine.ts';
export type { Engine, Recording } from './ports.ts';
export { busyWords, Profiler } from './profiler.ts';
