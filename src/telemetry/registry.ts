import type {
  Counter,
  Gauge,
  Histogram,
  HistogramOptions,
  MetricOptions,
  Metrics,
  ObservedOptions,
  Reading,
} from '../base/metrics.ts';
import { TubeletError } from '../base/errors.ts';
import { CounterMetric } from './counter.ts';
import { exposition, type Family, type Sample } from './exposition.ts';
import { GaugeMetric } from './gauge.ts';
import { HistogramMetric } from './histogram.ts';
import { compareValues } from './series.ts';

interface Source {
  readonly type: Family['type'];
  samples(): readonly Sample[];
}

interface Registered {
  readonly options: MetricOptions<string>;
  readonly source: Source;
}

export interface RegistryOptions {
  /** Told when a metric that is asked at scrape time throws; its family is then left out. */
  readonly onReadError?: (error: unknown, metric: string) => void;
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** All metrics of one page. A page of its own is a registry of its own. */
export class Registry implements Metrics {
  readonly #metrics = new Map<string, Registered>();
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

  observed<L extends string = never>(options: ObservedOptions<L>, read: () => Iterable<Reading<L>>): void {
    const labels = [...(options.labels ?? [])].sort();
    const samples = (): Sample[] => Array.from(read(), (reading) => sampleOf(labels, reading)).sort(bySeries);
    this.#register(options, { type: options.type, samples });
  }

  /** The page in Prometheus text format. */
  render(): string {
    return exposition([...this.#metrics.values()].map((registered) => this.#familyOf(registered)));
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

  #familyOf({ options, source }: Registered): Family {
    const { name, help, stability } = options;
    return { name, help, stability, type: source.type, samples: this.#read(name, source) };
  }

  #read(name: string, source: Source): readonly Sample[] {
    try {
      return source.samples();
    } catch (error) {
      if (this.#onReadError === undefined) throw error;
      this.#onReadError(error, name);
      return [];
    }
  }
}

function bySeries(a: Sample, b: Sample): number {
  return compareValues(
    a.labels.map(([, value]) => value),
    b.labels.map(([, value]) => value),
  );
}

function sampleOf<L extends string>(labels: readonly L[], reading: Reading<L>): Sample {
  const pairs = labels.map((label) => [label, reading.labels[label]] as const);
  const { value, timestamp } = reading;
  return { suffix: '', labels: pairs, value, ...(timestamp === undefined ? {} : { timestamp }) };
}
