import type { Histogram, HistogramOptions, LabelArguments } from '../base/metrics.ts';
import { floatText, sampleText } from './exposition.ts';
import { SeriesMap, type Series } from './series.ts';

interface HistogramState {
  /** Observations per bucket, not yet added up; the last one is for what is above all bounds. */
  readonly counts: number[];
  sum: number;
}

/** Observations counted by size. */
export class HistogramMetric<L extends string> implements Histogram<L> {
  readonly type = 'histogram';
  /** Upper bounds, without the one for infinity. */
  readonly buckets: readonly number[];
  readonly #bucketLabels: readonly string[];
  readonly #series: SeriesMap<L, HistogramState>;

  constructor(options: HistogramOptions<L>) {
    const bounds = options.buckets.filter((bound) => bound !== Infinity);
    const rising = bounds.every((bound, index) => index === 0 || bound > (bounds[index - 1] ?? bound));
    if (!rising) throw new RangeError(`${options.name}: bucket bounds must rise`);
    if (options.labels?.some((label) => label === 'le')) throw new RangeError(`${options.name}: the label le is taken`);
    this.buckets = bounds;
    this.#bucketLabels = [...bounds, Infinity].map((bound) => `le="${floatText(bound)}"`);
    this.#series = new SeriesMap(options, () => ({
      counts: Array.from({ length: bounds.length + 1 }, () => 0),
      sum: 0,
    }));
  }

  observe(value: number, ...labels: LabelArguments<L>): void {
    const state = this.#series.get(labels);
    const found = this.buckets.findIndex((bound) => value <= bound);
    const bucket = found === -1 ? this.buckets.length : found;
    state.counts[bucket] = (state.counts[bucket] ?? 0) + 1;
    state.sum += value;
  }

  remove(...labels: LabelArguments<L>): void {
    this.#series.remove(labels);
  }

  /** A series at a time, so that its lines are of one moment. */
  *texts(name: string): Iterable<string> {
    for (const series of this.#series.list()) yield this.#textOf(name, series);
  }

  #textOf(name: string, { text: labels, state }: Series<HistogramState>): string {
    let text = '';
    let total = 0;
    for (const [index, count] of state.counts.entries()) {
      total += count;
      const bound = this.#bucketLabels[index] ?? '';
      text += sampleText(`${name}_bucket`, labels === '' ? bound : `${labels},${bound}`, total);
    }
    return text + sampleText(`${name}_sum`, labels, state.sum) + sampleText(`${name}_count`, labels, total);
  }
}

/** `count` bounds, the first `start`, each `factor` times the one before. */
export function exponentialBuckets(start: number, factor: number, count: number): number[] {
  const bounds: number[] = [];
  for (let bound = start; bounds.length < count; bound *= factor) bounds.push(bound);
  return bounds;
}
