import type { Clock } from '../../base/clock.ts';
import type { Counter, Gauge, Histogram, Metrics } from '../../base/metrics.ts';
import type { ListenerName } from '../route.ts';
import { routeTable } from '../route-table.ts';

type RequestLabel = 'method' | 'path' | 'server_type' | 'long_running';
type RequestLabels = Readonly<Record<RequestLabel, string>>;

const labels: readonly RequestLabel[] = ['method', 'path', 'server_type', 'long_running'];
const other = 'other';
const methods: ReadonlySet<string> = new Set(['OPTIONS', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'TRACE', 'CONNECT']);
/** Dashboards know these as long; that portForward is not among them is a slip that they know too. */
const longRunning: ReadonlySet<string> = new Set(['exec', 'attach', 'debug']);
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The one page that dashboards never knew by its name. */
const nameless = 'metrics/slis';

/** The first segment, and the second too below /metrics. */
function rootOf([first = '', second]: readonly string[]): string {
  return first === 'metrics' && second !== undefined ? `${first}/${second}` : first;
}

const knownRoots: ReadonlySet<string> = new Set(
  Object.values(routeTable)
    .map(({ path }) => rootOf(path.split('/').slice(1)))
    .filter((root) => root !== nameless),
);

/** The label of a path: few values, whatever unauthenticated clients ask for. */
export function pathBucket(segments: readonly string[]): string {
  const root = rootOf(segments);
  return knownRoots.has(root) ? root : other;
}

/** The labels of a request; nothing for the health port, whose requests were never counted. */
export function requestLabels(
  listener: ListenerName,
  method: string,
  segments: readonly string[],
): RequestLabels | undefined {
  if (listener === 'healthz') return undefined;
  const path = pathBucket(segments);
  return {
    method: methods.has(method) ? method : other,
    path,
    server_type: listener === 'secure' ? 'readwrite' : 'readonly',
    long_running: String(longRunning.has(path)),
  };
}

/** How many requests there were, are, and how long they took. */
export class RequestMetrics {
  readonly #clock: Clock;
  readonly #total: Counter<RequestLabel>;
  readonly #underWay: Gauge<RequestLabel>;
  readonly #seconds: Histogram<RequestLabel>;

  constructor(metrics: Metrics, clock: Clock) {
    this.#clock = clock;
    this.#total = metrics.counter({
      name: 'kubelet_http_requests_total',
      help: 'HTTP requests that came in.',
      stability: 'ALPHA',
      labels,
    });
    this.#underWay = metrics.gauge({
      name: 'kubelet_http_inflight_requests',
      help: 'HTTP requests that are under way.',
      stability: 'ALPHA',
      labels,
    });
    this.#seconds = metrics.histogram({
      name: 'kubelet_http_requests_duration_seconds',
      help: 'Seconds that HTTP requests took until their answer was out.',
      stability: 'ALPHA',
      labels,
      buckets,
    });
  }

  /** Counts a request that begins; call what is returned when it ends. */
  begin(of: RequestLabels | undefined): () => void {
    if (of === undefined) return () => {};
    const began = this.#clock.monotonic();
    this.#total.inc(of);
    this.#underWay.add(1, of);
    return () => {
      this.#underWay.add(-1, of);
      this.#seconds.observe((this.#clock.monotonic() - began) / 1_000, of);
    };
  }
}
