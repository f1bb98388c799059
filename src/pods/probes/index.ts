export { createProber, type ProberDeps } from './create-prober.ts';
export { lastKnownIn } from './last-known.ts';
export type {
  Events,
  ExecRuntime,
  LastKnown,
  Observations,
  ProbeEvent,
  ProbeMetrics,
  ProbeOutcome,
  Prober,
  ProbeTarget,
  ProbeType,
  ProbeVerdict,
} from './ports.ts';
export { probeMetrics } from './probe-metrics.ts';
export { ProbeManager, type ProbeManagerDeps } from './probe-manager.ts';
export { ProbeResults } from './probe-results.ts';
