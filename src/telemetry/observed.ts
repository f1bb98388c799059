import type { ObservedOptions, MetricSample } from '../base/metrics.ts';
import { labelText, sampleText } from './exposition.ts';
import { compareValues } from './series.ts';

/** A metric whose values are read at scrape time. */
export class ObservedMetric<L extends string> {
  readonly type: ObservedOptions<L>['type'];
  readonly #labels: readonly L[];
  readonly #read: () => Iterable<MetricSample<L>>;

  constructor(options: ObservedOptions<L>, read: () => Iterable<MetricSample<L>>) {
    this.type = options.type;
    this.#labels = [...(options.labels ?? [])].sort();
    this.#read = read;
  }

  /** All is read before the first line is written: a family that fails is left out as a whole. */
  *texts(name: string): Iterable<string> {
    const readings = Array.from(this.#read(), ({ labels, value, timestamp }) => ({
      values: this.#labels.map((label) => labels[label]),
      value,
      timestamp,
    }));
    for (const { values, value, timestamp } of readings.sort((a, b) => compareValues(a.values, b.values))) {
      const pairs = this.#labels.map((label, index) => [label, values[index] ?? ''] as const);
      yield sampleText(name, labelText(pairs), value, timestamp);
    }
  }
}

/** The values of a summary: quantiles of late, and the total since the start. */
export interface SummaryReading {
  /** Quantile, 0 to 1, with its value. */
  readonly quantiles: readonly (readonly [quantile: number, value: number])[];
  readonly sum: number;
  readonly count: number;
}

export class SummaryMetric {
  readonly type = 'summary';
  readonly #read: () => SummaryReading;

  constructor(read: () => SummaryReading) {
    this.#read = read;
  }

  *texts(name: string): Iterable<string> {
    const { quantiles, sum, count } = this.#read();
    for (const [quantile, value] of quantiles) yield sampleText(name, `quantile="${quantile}"`, value);
    yield sampleText(`${name}_sum`, '', sum);
    yield sampleText(`${name}_count`, '', count);
  }
}
