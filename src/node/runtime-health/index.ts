export { computeRuntimeFacts, type HandlerFeatures, type RuntimeFacts } from './compute-runtime-facts.ts';
export { RuntimeHealth, type RuntimeHealthDeps } from './runtime-health.ts';
export type { RuntimeStatusSource } from './ports.ts';
