import type { Metrics } from '../../base/metrics.ts';
import { isStatic, type DesiredPod } from '../../model/desired-pod.ts';

export type Operation = 'create' | 'update' | 'sync' | 'kill' | 'terminated';

/** The metrics of the pod workers. */
export interface WorkerMetrics {
  /** A pod that a source names has got a worker. */
  began(pod: DesiredPod): void;
  /** The worker's first sync comes this long after that. */
  started(seconds: number): void;
  operated(operation: Operation, seconds: number): void;
  /** The runtime has a pod that no source names. */
  orphaned(): void;
  /** A pod came back under its uid. */
  restarted(pod: DesiredPod): void;
  /** A worker failed outside of its operations, and goes on. */
  failed(): void;
}

const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function workerMetrics(metrics: Metrics): WorkerMetrics {
  const stability = 'ALPHA';
  const durations = metrics.histogram({
    name: 'kubelet_pod_worker_duration_seconds',
    help: 'Seconds that one operation on a pod took, by its type.',
    stability,
    labels: ['operation_type'],
    buckets,
  });
  const starts = metrics.histogram({
    name: 'kubelet_pod_worker_start_duration_seconds',
    help: 'Seconds from a source naming a pod to its first sync.',
    stability,
    buckets,
  });
  const containers = metrics.histogram({
    name: 'kubelet_containers_per_pod_count',
    help: 'Containers of each new pod.',
    stability,
    buckets: [1, 2, 4, 8, 16],
  });
  const orphans = metrics.counter({
    name: 'kubelet_orphaned_runtime_pods_total',
    help: 'Pods found in the runtime that no source names.',
    stability,
  });
  const restarts = metrics.counter({
    name: 'kubelet_restarted_pods_total',
    help: 'Pods that came back under the uid of one that was ending.',
    stability,
    labels: ['static'],
  });
  const failures = metrics.counter({
    name: 'tubelet_pod_worker_failures_total',
    help: 'Failures of pod workers themselves, outside of their operations; the worker goes on after a back-off.',
  });
  for (const kind of ['', 'true']) restarts.add(0, { static: kind });
  return {
    began: (pod) => containers.observe(pod.spec.containers.length),
    started: (seconds) => starts.observe(seconds),
    operated: (operation, seconds) => durations.observe(seconds, { operation_type: operation }),
    orphaned: () => orphans.inc(),
    failed: () => failures.inc(),
    restarted: (pod) => restarts.inc({ static: isStatic(pod) ? 'true' : '' }),
  };
}
