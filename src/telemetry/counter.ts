import type { Counter, LabelArguments, MetricOptions } from '../base/metrics.ts';
import { sampleText } from './exposition.ts';
import { SeriesMap } from './series.ts';

/** A number that only grows. */
export class CounterMetric<L extends string> implements Counter<L> {
  readonly type = 'counter';
  readonly #series: SeriesMap<L, { value: number }>;

  constructor(options: MetricOptions<L>) {
    this.#series = new SeriesMap(options, () => ({ value: 0 }));
  }

  inc(...labels: LabelArguments<L>): void {
    this.#series.get(labels).value++;
  }

  add(amount: number, ...labels: LabelArguments<L>): void {
    if (!(amount >= 0)) throw new RangeError(`a counter cannot grow by ${amount}`);
    this.#series.get(labels).value += amount;
  }

  remove(...labels: LabelArguments<L>): void {
    this.#series.remove(labels);
  }

  *texts(name: string): Iterable<string> {
    for (const { text, state } of this.#series.list()) yield sampleText(name, text, state.value);
  }
}
