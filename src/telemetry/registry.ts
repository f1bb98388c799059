import type {
  Counter,
  Gauge,
  Histogram,
  HistogramOptions,
  MetricOptions,
  Metrics,
  ObservedOptions,
  MetricSample,
  Stability,
} from '../base/metrics.ts';
import { TubeletError } from '../base/errors.ts';
import { yieldToEventLoop } from '../base/yield-to-event-loop.ts';
import { CounterMetric } from './counter.ts';
import { headText, type FamilyType } from './exposition.ts';
import { GaugeMetric } from './gauge.ts';
import { HistogramMetric } from './histogram.ts';
import { ObservedMetric, SummaryMetric, type SummaryReading } from './observed.ts';

interface Source {
  readonly type: FamilyType;
  readonly buckets?: readonly number[];
  /** The lines of the family, a series at a time. */
  texts(name: string): Iterable<string>;
}

interface Registered {
  readonly options: MetricOptions<string>;
  readonly source: Source;
}

/** What is known of a family without asking for its values. */
export interface FamilyShape {
  readonly name: string;
  readonly type: FamilyType;
  readonly stability: Stability | undefined;
  /** In the order of the alphabet. */
  readonly labels: readonly string[];
  /** Of a histogram, without infinity. */
  readonly buckets: readonly number[] | undefined;
}

interface RegistryOptions {
  /** Called when a metric that is asked at scrape time throws; its family is then left out. */
  readonly onReadError?: (error: unknown, metric: string) => void;
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** Writing that much takes well under a millisecond; then others get their turn. */
const sliceCharacters = 64 * 1024;

/** All metrics of one page. A page of its own is a registry of its own. */
export class Registry implements Metrics {
  readonly #metrics = new Map<string, Registered>();
  readonly #preparations: (() => Promise<void>)[] = [];
  readonly #onReadError: RegistryOptions['onReadError'];

  constructor(options: RegistryOptions = {}) {
    this.#onReadError = options.onReadError;
  }

  counter<L extends string = never>(options: MetricOptions<L>): Counter<L> {
    return this.#register(options, new CounterMetric<L>(options));
  }

  gauge<L extends string = never>(options: MetricOptions<L>): Gauge<L> {
    return this.#register(options, new GaugeMetric<L>(options));
  }

  histogram<L extends string = never>(options: HistogramOptions<L>): Histogram<L> {
    return this.#register(options, new HistogramMetric<L>(options));
  }

  observed<L extends string = never>(options: ObservedOptions<L>, read: () => Iterable<MetricSample<L>>): void {
    this.#register(options, new ObservedMetric<L>(options, read));
  }

  summary(options: MetricOptions<never>, read: () => SummaryReading): void {
    this.#register(options, new SummaryMetric(read));
  }

  /** Work before each `page`, for values that take time to read. One that fails keeps no other from the page. */
  beforePage(prepare: () => Promise<void>): void {
    this.#preparations.push(prepare);
  }

  families(): readonly FamilyShape[] {
    return [...this.#metrics.values()].map(({ options: { name, stability, labels = [] }, source }) => ({
      name,
      type: source.type,
      stability,
      labels: [...labels].sort(),
      buckets: source.buckets,
    }));
  }

  /** The page in Prometheus text format, without what takes preparation. */
  render(): string {
    return [...this.#texts()].join('');
  }

  /** The page, made in slices: other work runs in between, however large the page is. */
  async page(): Promise<string> {
    const slices: string[] = [];
    for await (const slice of this.slices()) slices.push(slice);
    return slices.join('');
  }

  /** The page in pieces of some length; each is made when it is asked for, and not in the turn of the one before. */
  async *slices(): AsyncIterable<string> {
    await Promise.all(this.#preparations.map((prepare) => this.#prepared(prepare)));
    let texts: string[] = [];
    let written = 0;
    for (const text of this.#texts()) {
      texts.push(text);
      written += text.length;
      if (written < sliceCharacters) continue;
      // Joined now: a page of thousands of small strings would be slow to send.
      yield texts.join('');
      [texts, written] = [[], 0];
      await yieldToEventLoop();
    }
    if (written > 0) yield texts.join('');
  }

  /** Families by name; one without samples is left out. */
  *#texts(): Generator<string> {
    const sorted = [...this.#metrics].sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [name, { options, source }] of sorted) {
      let head = headText({ ...options, type: source.type });
      try {
        for (const text of source.texts(name)) {
          yield head + text;
          head = '';
        }
      } catch (error) {
        if (this.#onReadError === undefined) throw error;
        this.#onReadError(error, name);
      }
    }
  }

  async #prepared(prepare: () => Promise<void>): Promise<void> {
    try {
      await prepare();
    } catch (error) {
      if (this.#onReadError === undefined) throw error;
      this.#onReadError(error, 'before the page');
    }
  }

  #register<M extends Source>(options: MetricOptions<string>, source: M): M {
    const { name, labels = [] } = options;
    if (!metricName.test(name)) throw new TubeletError('invalid', `"${name}" cannot be the name of a metric`);
    const badLabel = labels.find((label) => !labelName.test(label));
    if (badLabel !== undefined) throw new TubeletError('invalid', `${name}: "${badLabel}" cannot be a label`);
    if (this.#metrics.has(name)) throw new TubeletError('alreadyExists', `the metric ${name} is registered already`);
    this.#metrics.set(name, { options, source });
    return source;
  }
}
