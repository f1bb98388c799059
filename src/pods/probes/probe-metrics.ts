import type { Metrics } from '../../base/metrics.ts';
import type { ProbeMetrics } from './ports.ts';

const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const results = ['successful', 'failed', 'unknown'] as const;

/** Results of probes, by container. A series is removed with its probe. */
export function probeMetrics(metrics: Metrics): ProbeMetrics {
  const total = metrics.counter({
    name: 'prober_probe_total',
    help: 'Probes of containers by their result.',
    stability: 'BETA',
    labels: ['probe_type', 'result', 'container', 'pod', 'namespace', 'pod_uid'],
  });
  const durations = metrics.histogram({
    name: 'prober_probe_duration_seconds',
    help: 'Seconds that probes took which did not fail.',
    stability: 'ALPHA',
    labels: ['probe_type', 'container', 'pod', 'namespace'],
    buckets,
  });
  return {
    observe(type, result, pod, container, seconds) {
      const labels = { probe_type: type, container, pod: pod.name, namespace: pod.namespace };
      total.inc({ ...labels, result, pod_uid: pod.uid });
      // The duration of a failure shows the timeout rather than the container.
      if (result !== 'failed') durations.observe(seconds, labels);
    },
    forget(type, pod, container) {
      const labels = { probe_type: type, container, pod: pod.name, namespace: pod.namespace };
      for (const result of results) total.remove({ ...labels, result, pod_uid: pod.uid });
      durations.remove(labels);
    },
  };
}
