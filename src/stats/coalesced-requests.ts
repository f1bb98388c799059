import { raceAbort } from '../base/abort.ts';
import type { CancelTimer, Clock } from '../base/clock.ts';

interface CoalescedRequest {
  readonly outcome: Promise<unknown>;
  /** Set once it is there: ends the time for which it serves. */
  cancelEnd?: CancelTimer;
}

/**
 * One answer for all requests at about the same time: they wait for the same work, and its result serves a moment longer.
 * Then a timer drops it, so that something as large as a page does not stay in memory until the next request.
 */
export class CoalescedRequests {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #keepMs: number;
  readonly #entries = new Map<string, CoalescedRequest>();
  #isClosed = false;

  constructor(clock: Pick<Clock, 'after'>, keepMs: number) {
    this.#clock = clock;
    this.#keepMs = keepMs;
  }

  /** An aborted request ends its waiting, not the work. One kind of work per key. */
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

  #begin(key: string, work: () => Promise<unknown>): CoalescedRequest {
    const entry: CoalescedRequest = { outcome: work() };
    const forget = (): void => void this.#entries.delete(key);
    this.#entries.set(key, entry);
    void entry.outcome.then(
      () => {
        if (this.#isClosed) forget();
        else entry.cancelEnd = this.#clock.after(this.#keepMs, forget);
      },
      // Every waiting request gets the error; the next one tries again.
      forget,
    );
    return entry;
  }
}
