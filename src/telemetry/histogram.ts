import type { Histogram, HistogramOptions, LabelArguments } from '../base/metrics.ts';
import { floatText, type Sample } from './exposition.ts';
import { SeriesMap, type LabelPairs } from './series.ts';

interface HistogramState {
  /** Observations per bucket, not yet added up; the last one is for what is above all bounds. */
  readonly counts: number[];
  sum: number;
}

/** Observations counted by size. */
export class HistogramMetric<L extends string> implements Histogram<L> {
  readonly type = 'histogram';
  readonly #bounds: readonly number[];
  readonly #series: SeriesMap<L, HistogramState>;

  constructor(options: HistogramOptions<L>) {
    const bounds = options.buckets.filter((bound) => bound !== Infinity);
    const rising = bounds.every((bound, index) => index === 0 || bound > (bounds[index - 1] ?? bound));
    if (!rising) throw new RangeError(`${options.name}: bucket bounds must rise`);
    if (options.labels?.some((label) => label === 'le')) throw new RangeError(`${options.name}: the label le is taken`);
    this.#bounds = bounds;
    this.#series = new SeriesMap(options, () => ({
      counts: Array.from({ length: bounds.length + 1 }, () => 0),
      sum: 0,
    }));
  }

  observe(value: number, ...labels: LabelArguments<L>): void {
    const state = this.#series.get(labels);
    const found = this.#bounds.findIndex((bound) => value <= bound);
    const bucket = found === -1 ? this.#bounds.length : found;
    state.counts[bucket] = (state.counts[bucket] ?? 0) + 1;
    state.sum += value;
  }

  remove(...labels: LabelArguments<L>): void {
    this.#series.remove(labels);
  }

  samples(): Sample[] {
    return this.#series.list().flatMap(({ pairs, state }) => this.#samplesOf(pairs, state));
  }

  #samplesOf(labels: LabelPairs, state: HistogramState): Sample[] {
    let total = 0;
    const samples: Sample[] = state.counts.map((count, index) => {
      total += count;
      const bound = floatText(this.#bounds[index] ?? Infinity);
      return { suffix: '_bucket', labels: [...labels, ['le', bound] as const], value: total };
    });
    samples.push({ suffix: '_sum', labels, value: state.sum }, { suffix: '_count', labels, value: total });
    return samples;
  }
}

/** `count` bounds, the first `start`, each `factor` times the one before. */
export function exponentialBuckets(start: number, factor: number, count: number): number[] {
  const bounds: number[] = [];
  for (let bound = start; bounds.length < count; bound *= factor) bounds.push(bound);
  return bounds;
}

/** The bounds, in seconds, of what takes about as long as a network call. */
export const defaultBuckets: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
