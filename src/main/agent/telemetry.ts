import type { Clock } from '../../base/clock.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { Settings } from '../../config/index.ts';
import { operationTypes, type ObserveCall } from '../../cri/index.ts';
import { createLog, exponentialBuckets, type LogSink } from '../../telemetry/index.ts';

export function createLogSink(settings: Settings, clock: Clock): LogSink {
  const { logging } = settings.config;
  return createLog({
    format: logging.format === 'json' ? 'json' : 'text',
    clock,
    verbosity: logging.verbosity,
    vmodule: logging.vmodule.map(({ filePattern, verbosity }) => `${filePattern}=${verbosity}`).join(','),
  });
}

/** The kubelet's own metrics of runtime calls. */
export function runtimeCallMetrics(metrics: Metrics): ObserveCall {
  const common = { stability: 'ALPHA', labels: ['operation_type'] } as const;
  const total = metrics.counter({
    ...common,
    name: 'kubelet_runtime_operations_total',
    help: 'Calls of the container runtime by operation type.',
  });
  const errors = metrics.counter({
    ...common,
    name: 'kubelet_runtime_operations_errors_total',
    help: 'Failed calls of the container runtime by operation type.',
  });
  const duration = metrics.histogram({
    ...common,
    name: 'kubelet_runtime_operations_duration_seconds',
    help: 'Seconds that calls of the container runtime took, by operation type.',
    buckets: exponentialBuckets(0.005, 2.5, 14),
  });
  return (verb, seconds, failure) => {
    const labels = { operation_type: operationTypes[verb] };
    total.inc(labels);
    duration.observe(seconds, labels);
    if (failure !== undefined) errors.inc(labels);
  };
}
