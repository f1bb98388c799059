import type { Metrics } from '../../base/metrics.ts';

/** What the relist and the event stream measure of themselves. */
export interface PlegMetrics {
  /** A relist ended, well or not. */
  took(seconds: number): void;
  /** A relist begins this long after the last one that succeeded. */
  began(secondsSinceLast: number): void;
  /** A relist that succeeded began at this wall time. */
  seen(unixSeconds: number): void;
  /** An event was dropped because too many wait. */
  discarded(): void;
  /** The runtime reports what happens by a stream of events. */
  connected(): void;
  /** The stream could not be opened, or broke. */
  broke(): void;
  /** An event arrived this long after what it is about. */
  arrived(secondsAfter: number): void;
}

/** Upper bounds in seconds that the kubelet's users have on their dashboards. */
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function plegMetrics(metrics: Metrics): PlegMetrics {
  const stability = 'ALPHA';
  const duration = metrics.histogram({
    name: 'kubelet_pleg_relist_duration_seconds',
    help: 'Seconds that a listing of the whole runtime took.',
    stability,
    buckets,
  });
  const interval = metrics.histogram({
    name: 'kubelet_pleg_relist_interval_seconds',
    help: 'Seconds between the beginnings of listings of the whole runtime.',
    stability,
    buckets,
  });
  const lastSeen = metrics.gauge({
    name: 'kubelet_pleg_last_seen_seconds',
    help: 'Unix time at which the runtime was last listed as a whole.',
    stability,
  });
  const discards = metrics.counter({
    name: 'kubelet_pleg_discard_events',
    help: 'Events of the runtime that were dropped because too many waited.',
    stability,
  });
  const connections = metrics.counter({
    name: 'kubelet_evented_pleg_connection_success_count',
    help: 'Streams of events that the runtime opened.',
    stability,
  });
  const breaks = metrics.counter({
    name: 'kubelet_evented_pleg_connection_error_count',
    help: 'Streams of events that could not be opened or broke.',
    stability,
  });
  const latency = metrics.histogram({
    name: 'kubelet_evented_pleg_connection_latency_seconds',
    help: 'Seconds from something happening in the runtime to its event being here.',
    stability,
    buckets,
  });
  return {
    took: (seconds) => duration.observe(seconds),
    began: (seconds) => interval.observe(seconds),
    seen: (seconds) => lastSeen.set(seconds),
    discarded: () => discards.inc(),
    connected: () => connections.inc(),
    broke: () => breaks.inc(),
    arrived: (seconds) => latency.observe(seconds),
  };
}
