import type { Gauge, LabelArguments, MetricOptions } from '../base/metrics.ts';
import { sampleText } from './exposition.ts';
import { SeriesMap } from './series.ts';

/** A number that goes up and down. */
export class GaugeMetric<L extends string> implements Gauge<L> {
  readonly type = 'gauge';
  readonly #series: SeriesMap<L, { value: number }>;

  constructor(options: MetricOptions<L>) {
    this.#series = new SeriesMap(options, () => ({ value: 0 }));
  }

  set(value: number, ...labels: LabelArguments<L>): void {
    this.#series.get(labels).value = value;
  }

  add(amount: number, ...labels: LabelArguments<L>): void {
    this.#series.get(labels).value += amount;
  }

  remove(...labels: LabelArguments<L>): void {
    this.#series.remove(labels);
  }

  clear(): void {
    this.#series.clear();
  }

  *texts(name: string): Iterable<string> {
    for (const { text, state } of this.#series.list()) yield sampleText(name, text, state.value);
  }
}
