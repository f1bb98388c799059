import type { Clock } from './clock.ts';
import { DueList, type DueEntry } from './due-list.ts';
import { InvariantError } from './errors.ts';
import { Wakeup } from './wakeup.ts';

/** Times closer than this are the same; without it a rounding error would arm a timer for no time at all. */
const sameInstantMs = 0.001;

/**
 * Keys that come due after a delay, each at most once. One timer is armed, for the earliest key, and only while a taker
 * waits: an empty queue costs nothing.
 */
export class DelayQueue<K> {
  readonly #clock: Clock;
  readonly #due = new DueList<K>();
  readonly #entries = new Map<K, DueEntry<K>>();
  readonly #change = new Wakeup();
  #taking = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#entries.size;
  }

  has(key: K): boolean {
    return this.#entries.has(key);
  }

  /** Makes a key come due in `dueInMs`. Of two times for one key the earlier stays. */
  add(key: K, dueInMs: number): void {
    const due = this.#clock.monotonic() + Math.max(0, dueInMs);
    const present = this.#entries.get(key);
    if (present !== undefined) {
      if (present.due <= due) return;
      this.#due.remove(present);
    }
    const entry = this.#due.insert(due, key);
    this.#entries.set(key, entry);
    if (this.#due.first() === entry) this.#change.wake();
  }

  /** Removes a key; returns whether it was there. */
  cancel(key: K): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    const wasFirst = this.#due.first() === entry;
    this.#remove(entry);
    if (wasFirst) this.#change.wake();
    return true;
  }

  /** The next key that is due, earliest first, in order of arrival within one instant. */
  async take(signal: AbortSignal): Promise<K> {
    if (this.#taking) throw new InvariantError('a delay queue has one taker, and it is waiting already');
    this.#taking = true;
    try {
      for (;;) {
        signal.throwIfAborted();
        const first = this.#due.first();
        const rest = first === undefined ? undefined : first.due - this.#clock.monotonic();
        if (first !== undefined && rest !== undefined && rest < sameInstantMs) {
          this.#remove(first);
          return first.value;
        }
        await this.#waitForChange(rest, signal);
      }
    } finally {
      this.#taking = false;
    }
  }

  #remove(entry: DueEntry<K>): void {
    this.#due.remove(entry);
    this.#entries.delete(entry.value);
  }

  async #waitForChange(restMs: number | undefined, signal: AbortSignal): Promise<void> {
    const cancelTimer = restMs === undefined ? undefined : this.#clock.after(restMs, () => this.#change.wake());
    try {
      await this.#change.wait(signal);
    } finally {
      cancelTimer?.();
    }
  }
}
