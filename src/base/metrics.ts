/**
 * The metrics port. The registry lives in telemetry/; components get a `Metrics` in their deps and make their metrics
 * when they are made themselves. Label values come last and are checked by name when compiled.
 */
export interface Metrics {
  counter<L extends string = never>(options: MetricOptions<L>): Counter<L>;
  gauge<L extends string = never>(options: MetricOptions<L>): Gauge<L>;
  histogram<L extends string = never>(options: HistogramOptions<L>): Histogram<L>;
  /** A metric whose values are read at each scrape. */
  observed<L extends string = never>(options: ObservedOptions<L>, read: () => Iterable<MetricSample<L>>): void;
}

/** How much users may rely on a metric; written before its help text. */
export type Stability = 'INTERNAL' | 'ALPHA' | 'BETA' | 'STABLE';

export interface MetricOptions<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly stability?: Stability;
  readonly labels?: readonly L[];
}

export interface HistogramOptions<L extends string> extends MetricOptions<L> {
  /** Upper bounds, rising; the one for infinity is added. */
  readonly buckets: readonly number[];
}

export interface ObservedOptions<L extends string> extends MetricOptions<L> {
  readonly type: 'counter' | 'gauge';
}

export interface MetricSample<L extends string> {
  readonly labels: LabelValues<L>;
  readonly value: number;
  /** Wall time of the measurement in milliseconds, where it is not the time of asking. */
  readonly timestamp?: number;
}

export type LabelValues<L extends string> = Readonly<Record<L, string>>;

/** Nothing for a metric without labels, one object for a metric with them. */
export type LabelArguments<L extends string> = [L] extends [never] ? [] : [labels: LabelValues<L>];

export interface Counter<L extends string = never> {
  inc(...labels: LabelArguments<L>): void;
  add(amount: number, ...labels: LabelArguments<L>): void;
  /** Removes one series, when what it counts has been removed. */
  remove(...labels: LabelArguments<L>): void;
}

export interface Gauge<L extends string = never> {
  set(value: number, ...labels: LabelArguments<L>): void;
  add(amount: number, ...labels: LabelArguments<L>): void;
  /** Takes one series out. */
  remove(...labels: LabelArguments<L>): void;
  /** Takes all series out, before they are set anew. */
  clear(): void;
}

export interface Histogram<L extends string = never> {
  observe(value: number, ...labels: LabelArguments<L>): void;
  /** Removes one series, when what it measures has been removed. */
  remove(...labels: LabelArguments<L>): void;
}
