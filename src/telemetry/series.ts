import type { LabelArguments, LabelValues, MetricOptions } from '../base/metrics.ts';
import { labelText } from './exposition.ts';

export interface Series<S> {
  readonly values: readonly string[];
  /** The labels as a page shows them. */
  readonly text: string;
  readonly state: S;
}

/** The series of one metric, by label values. A metric without labels has its one series from the start. */
export class SeriesMap<L extends string, S> {
  readonly #labels: readonly L[];
  readonly #make: () => S;
  readonly #entries = new Map<string, Series<S>>();
  /** Series come and go seldom, pages are asked for often. */
  #sorted: readonly Series<S>[] | undefined;

  constructor(options: MetricOptions<L>, make: () => S) {
    // Readers of the format expect labels sorted by name.
    this.#labels = [...(options.labels ?? [])].sort();
    this.#make = make;
    if (this.#labels.length === 0) this.#insert('', []);
  }

  get(args: LabelArguments<L>): S {
    const values = this.#valuesOf(args);
    const key = keyOf(values);
    return (this.#entries.get(key) ?? this.#insert(key, values)).state;
  }

  remove(args: LabelArguments<L>): void {
    if (this.#entries.delete(keyOf(this.#valuesOf(args)))) this.#sorted = undefined;
  }

  clear(): void {
    this.#entries.clear();
    this.#sorted = undefined;
  }

  /** Sorted by label values. What comes or goes later does not change the list that was answered. */
  list(): readonly Series<S>[] {
    return (this.#sorted ??= [...this.#entries.values()].sort((a, b) => compareValues(a.values, b.values)));
  }

  #valuesOf(args: LabelArguments<L>): readonly string[] {
    const [given] = args as readonly LabelValues<L>[];
    return this.#labels.map((label) => {
      const value: string | undefined = given?.[label];
      if (value === undefined) throw new TypeError(`the label ${label} has no value`);
      return value;
    });
  }

  #insert(key: string, values: readonly string[]): Series<S> {
    const text = labelText(this.#labels.map((label, index) => [label, values[index] ?? ''] as const));
    const entry = { values, text, state: this.#make() };
    this.#entries.set(key, entry);
    this.#sorted = undefined;
    return entry;
  }
}

/** Lengths before the values keep `a,b` and `a` with `b` apart, whatever letters they hold. */
function keyOf(values: readonly string[]): string {
  return values.map((value) => `${value.length}:${value}`).join('');
}

export function compareValues(a: readonly string[], b: readonly string[]): number {
  // Thousands of series are compared for a page: no iterator is made for each.
  for (let index = 0; index < a.length; index++) {
    const value = a[index] ?? '';
    const other = b[index] ?? '';
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}
