export { RuntimeHealth } from './runtime-health.ts';
export type { RuntimeStatusSource } from './ports.ts';
