import { raceAbort } from '../base/abort.ts';
import type { CancelTimer, Clock } from '../base/clock.ts';

interface Entry {
  readonly outcome: Promise<unknown>;
  /** Set once it is there: ends the time for which it serves. */
  cancelEnd?: CancelTimer;
}

/**
 * One answer for all who ask at about the same time: they wait for the same work, and it serves a moment longer. Then it is
 * let go of, and not only when the next one comes: what is as large as a page and lives from one page to the next becomes
 * old to the engine, which then has to look through all of its memory to be rid of it.
 */
export class Shared {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #keepMs: number;
  readonly #entries = new Map<string, Entry>();
  #isClosed = false;

  constructor(clock: Pick<Clock, 'after'>, keepMs: number) {
    this.#clock = clock;
    this.#keepMs = keepMs;
  }

  /** An asker who gives up ends the waiting, not the work. One kind of work per key. */
  ask<V>(key: string, work: () => Promise<V>, signal: AbortSignal): Promise<V> {
    const { outcome } = this.#entries.get(key) ?? this.#begin(key, work);
    return raceAbort(outcome as Promise<V>, signal);
  }

  /** Keeps nothing from now on, and leaves no timer. */
  close(): void {
    this.#isClosed = true;
    for (const { cancelEnd } of this.#entries.values()) cancelEnd?.();
    this.#entries.clear();
  }

  #begin(key: string, work: () => Promise<unknown>): Entry {
    const entry: Entry = { outcome: work() };
    const forget = (): void => void this.#entries.delete(key);
    this.#entries.set(key, entry);
    void entry.outcome.then(
      () => {
        if (this.#isClosed) forget();
        else entry.cancelEnd = this.#clock.after(this.#keepMs, forget);
      },
      // Everybody who waits is told; the next one tries again.
      forget,
    );
    return entry;
  }
}
