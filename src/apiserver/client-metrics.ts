import type { Clock } from '../base/clock.ts';
import type { Metrics } from '../base/metrics.ts';
import type { RequestObserver } from './api-requests.ts';
import type { PluginObserver } from './credentials/run-exec.ts';

interface ClientMetrics {
  readonly requests: RequestObserver;
  readonly plugin: PluginObserver;
}

const durations = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
/** 64 bytes to 16 MiB. */
const sizes = [64, 256, 512, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];
const [minute, day] = [60, 86_400];
const ages = [10 * minute, 30 * minute, 60 * minute, 240 * minute, day, 7 * day, 30 * day, 90 * day, 180 * day];
const longAges = [360 * day, 1_440 * day];

/** Metrics of requests to the API server of one address. */
export function clientMetrics(metrics: Metrics, host: string, clock: Pick<Clock, 'now'>): ClientMetrics {
  return { requests: requestMetrics(metrics, host), plugin: pluginMetrics(metrics, clock) };
}

function requestMetrics(metrics: Metrics, host: string): RequestObserver {
  const common = { stability: 'ALPHA', labels: ['verb', 'host'] } as const;
  const requests = metrics.counter({
    name: 'rest_client_requests_total',
    help: 'Requests sent to the API server, by how they ended.',
    stability: 'ALPHA',
    labels: ['code', 'host', 'method'],
  });
  const latency = metrics.histogram({
    ...common,
    name: 'rest_client_request_duration_seconds',
    help: 'Seconds until the API server began to answer.',
    buckets: durations,
  });
  const requestSizes = metrics.histogram({
    ...common,
    name: 'rest_client_request_size_bytes',
    help: 'Length of the bodies sent to the API server.',
    buckets: sizes,
  });
  const answerSizes = metrics.histogram({
    ...common,
    name: 'rest_client_response_size_bytes',
    help: 'Length of the bodies of answers, without those of watches.',
    buckets: sizes,
  });
  const waits = metrics.histogram({
    ...common,
    name: 'rest_client_rate_limiter_duration_seconds',
    help: 'Seconds that requests waited here so that there are not too many of them.',
    buckets: durations,
  });
  const retries = metrics.counter({
    name: 'rest_client_request_retries_total',
    help: 'Requests that were sent again, by how the try before ended.',
    stability: 'ALPHA',
    labels: ['code', 'verb', 'host'],
  });
  return {
    answered: ({ method, code, durationMs, requestBytes }) => {
      requests.inc({ code, host, method });
      latency.observe(durationMs / 1_000, { verb: method, host });
      requestSizes.observe(requestBytes, { verb: method, host });
    },
    waited: (verb, ms) => waits.observe(ms / 1_000, { verb, host }),
    received: (verb, bytes) => answerSizes.observe(bytes, { verb, host }),
    retried: (verb, code) => retries.inc({ code, verb, host }),
  };
}

function pluginMetrics(metrics: Metrics, clock: Pick<Clock, 'now'>): PluginObserver {
  let current: { readonly notBefore: number; readonly notAfter: number } | undefined;
  const runs = metrics.counter({
    name: 'rest_client_exec_plugin_call_total',
    help: 'Runs of the credential plugin of the kubeconfig, by how they ended.',
    stability: 'ALPHA',
    labels: ['code', 'call_status'],
  });
  const lived = metrics.histogram({
    name: 'rest_client_exec_plugin_certificate_rotation_age',
    help: 'How old, in seconds, a client certificate of the plugin was when the next one took its place.',
    stability: 'ALPHA',
    buckets: [...ages, ...longAges],
  });
  metrics.observed(
    {
      name: 'rest_client_exec_plugin_ttl_seconds',
      help: 'Seconds until the client certificate of the plugin expires; +Inf without one.',
      stability: 'ALPHA',
      type: 'gauge',
    },
    () => [{ labels: {}, value: current === undefined ? Infinity : (current.notAfter - clock.now()) / 1_000 }],
  );
  return {
    ran: (exitCode, end) => runs.inc({ code: String(exitCode), call_status: end }),
    certificate: (validity) => {
      if (current !== undefined && current.notAfter !== validity.notAfter) {
        lived.observe((clock.now() - current.notBefore) / 1_000);
      }
      current = validity;
    },
  };
}
