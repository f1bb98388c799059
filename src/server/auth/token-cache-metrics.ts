import type { Metrics } from '../../base/metrics.ts';

/** What the memory of tokens is worth. */
export interface TokenCacheMetrics {
  asked(status: 'hit' | 'miss', seconds: number): void;
  /** A request waits for a review; call the returned function when it no longer does. */
  waiting(): () => void;
  /** A review is under way; the answer is called with how it ended. */
  fetching(): (status: 'ok' | 'error') => void;
}

export function tokenCacheMetrics(metrics: Metrics): TokenCacheMetrics {
  const common = { stability: 'ALPHA', labels: ['status'] } as const;
  const seconds = metrics.histogram({
    ...common,
    name: 'authentication_token_cache_request_duration_seconds',
    help: 'How long it took to judge a bearer token, by whether it was known (hit) or not (miss).',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  });
  const total = metrics.counter({
    ...common,
    name: 'authentication_token_cache_request_total',
    help: 'Bearer tokens that were judged, by whether they were known (hit) or not (miss).',
  });
  const fetches = metrics.counter({
    ...common,
    name: 'authentication_token_cache_fetch_total',
    help: 'Bearer tokens that the API server was asked about, by how that ended (ok, error).',
  });
  const active = metrics.gauge({
    ...common,
    name: 'authentication_token_cache_active_fetch_count',
    help: 'Reviews of bearer tokens under way (in_flight) and requests that wait for one (blocked).',
  });
  return {
    asked(status, took) {
      total.inc({ status });
      seconds.observe(took, { status });
    },
    waiting() {
      active.add(1, { status: 'blocked' });
      return () => active.add(-1, { status: 'blocked' });
    },
    fetching() {
      active.add(1, { status: 'in_flight' });
      return (status) => {
        active.add(-1, { status: 'in_flight' });
        fetches.inc({ status });
      };
    },
  };
}
