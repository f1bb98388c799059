import type { Metrics } from '../base/metrics.ts';
import type { ObserveCheck } from './health-checks.ts';

interface Tally {
  well: boolean;
  success: number;
  error: number;
}

/** The one page that is counted. */
const type = 'healthz';

/** How health checks came out whenever the page with all of them was asked for; the metrics of `/metrics/slis`. */
export class HealthCheckResults {
  readonly #tallies = new Map<string, Tally>();

  /** The metrics belong on a page of their own, because that page can be reset. */
  constructor(metrics: Metrics) {
    metrics.observed(
      {
        name: 'kubernetes_healthcheck',
        help: 'Whether a health check passed (1) or not (0) when it was last made.',
        type: 'gauge',
        stability: 'STABLE',
        labels: ['name', 'type'],
      },
      () => [...this.#tallies].map(([name, { well }]) => ({ labels: { name, type }, value: well ? 1 : 0 })),
    );
    metrics.observed(
      {
        name: 'kubernetes_healthchecks_total',
        help: 'Health checks that were made, by how they came out.',
        type: 'counter',
        stability: 'STABLE',
        labels: ['name', 'type', 'status'],
      },
      () =>
        [...this.#tallies].flatMap(([name, tally]) =>
          (['success', 'error'] as const)
            .filter((status) => tally[status] > 0)
            .map((status) => ({ labels: { name, type, status }, value: tally[status] })),
        ),
    );
  }

  readonly observe: ObserveCheck = (name, problem) => {
    const tally = this.#tallies.get(name) ?? { well: true, success: 0, error: 0 };
    tally.well = problem === undefined;
    tally[tally.well ? 'success' : 'error']++;
    this.#tallies.set(name, tally);
  };

  reset(): void {
    this.#tallies.clear();
  }
}
