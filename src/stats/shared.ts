import { raceAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';

interface Entry {
  readonly outcome: Promise<unknown>;
  /** When it was there; unset while it is under way. */
  doneMs?: number;
}

/** One answer for all who ask at about the same time: they wait for the same work, and it serves a moment longer. */
export class Shared {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #keepMs: number;
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Pick<Clock, 'monotonic'>, keepMs: number) {
    this.#clock = clock;
    this.#keepMs = keepMs;
  }

  /** An asker who gives up ends the waiting, not the work. One kind of work per key. */
  ask<V>(key: string, work: () => Promise<V>, signal: AbortSignal): Promise<V> {
    const present = this.#entries.get(key);
    const serves = present && (present.doneMs === undefined || this.#clock.monotonic() - present.doneMs < this.#keepMs);
    const { outcome } = serves ? present : this.#begin(key, work);
    return raceAbort(outcome as Promise<V>, signal);
  }

  #begin(key: string, work: () => Promise<unknown>): Entry {
    const entry: Entry = { outcome: work() };
    this.#entries.set(key, entry);
    void entry.outcome.then(
      () => (entry.doneMs = this.#clock.monotonic()),
      // Everybody who waits is told; the next one tries again.
      () => this.#entries.delete(key),
    );
    return entry;
  }
}
