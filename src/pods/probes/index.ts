export { createProber } from './create-prober.ts';
export { lastKnownIn } from './last-known.ts';
export type { LastKnown, ProbeOutcome, Prober, ProbeTarget } from './ports.ts';
export { probeMetrics } from './probe-metrics.ts';
export { ProbeManager } from './probe-manager.ts';
