import type { Clock } from '../../base/clock.ts';

interface ExpiringEntry<V> {
  readonly value: V;
  readonly untilMs: number;
}

/** Remembers at most `max` values, each for a time; the least recently used is dropped first. */
export class ExpiringLru<V> {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #max: number;
  /** In the order of use, the oldest first. */
  readonly #entries = new Map<string, ExpiringEntry<V>>();

  constructor(clock: Pick<Clock, 'monotonic'>, max: number) {
    this.#clock = clock;
    this.#max = max;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (entry.untilMs <= this.#clock.monotonic()) return undefined;
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** A time of nothing or less remembers nothing. */
  set(key: string, value: V, ttlMs: number): void {
    this.#entries.delete(key);
    if (!(ttlMs > 0)) return;
    this.#entries.set(key, { value, untilMs: this.#clock.monotonic() + ttlMs });
    if (this.#entries.size <= this.#max) return;
    const oldest = this.#entries.keys().next().value;
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}
