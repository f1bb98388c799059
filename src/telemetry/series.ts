import type { LabelArguments, LabelValues, MetricOptions } from '../base/metrics.ts';

export type LabelPairs = readonly (readonly [name: string, value: string])[];

interface Entry<S> {
  readonly values: readonly string[];
  readonly pairs: LabelPairs;
  readonly state: S;
}

/** The series of one metric, by label values. A metric without labels has its one series from the start. */
export class SeriesMap<L extends string, S> {
  readonly #labels: readonly L[];
  readonly #make: () => S;
  readonly #entries = new Map<string, Entry<S>>();

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
    this.#entries.delete(keyOf(this.#valuesOf(args)));
  }

  clear(): void {
    this.#entries.clear();
  }

  /** Sorted by label values. */
  list(): { readonly pairs: LabelPairs; readonly state: S }[] {
    return [...this.#entries.values()].sort((a, b) => compareValues(a.values, b.values));
  }

  #valuesOf(args: LabelArguments<L>): readonly string[] {
    const [given] = args as readonly LabelValues<L>[];
    return this.#labels.map((label) => {
      const value: string | undefined = given?.[label];
      if (value === undefined) throw new TypeError(`the label ${label} has no value`);
      return value;
    });
  }

  #insert(key: string, values: readonly string[]): Entry<S> {
    const pairs = this.#labels.map((label, index) => [label, values[index] ?? ''] as const);
    const entry = { values, pairs, state: this.#make() };
    this.#entries.set(key, entry);
    return entry;
  }
}

/** Lengths before the values keep `a,b` and `a` with `b` apart, whatever letters they hold. */
function keyOf(values: readonly string[]): string {
  return values.map((value) => `${value.length}:${value}`).join('');
}

export function compareValues(a: readonly string[], b: readonly string[]): number {
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? '';
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}
