import { raceAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';

interface LastKnownDeps<T> {
  readonly clock: Clock;
  readonly read: () => Promise<T>;
  /** For how long an answer counts as new. */
  readonly maxAgeMs: number;
  /** How long anybody waits for an answer. */
  readonly patienceMs: number;
  /** A reading failed; the answer before it stays. */
  readonly onError: (error: unknown) => void;
}

/**
 * Something that is read elsewhere and may hang there. Who asks gets a new answer if there is one soon, otherwise the
 * one before: a node whose runtime hangs must be able to say so. One reading is under way at a time, however long.
 */
export class LastKnown<T> {
  readonly #deps: LastKnownDeps<T>;
  #value: T | undefined;
  #readAt: number | undefined;
  #reading: Promise<void> | undefined;

  constructor(deps: LastKnownDeps<T>) {
    this.#deps = deps;
  }

  async get(): Promise<T | undefined> {
    const { clock, maxAgeMs, patienceMs } = this.#deps;
    const fresh = this.#readAt !== undefined && clock.monotonic() - this.#readAt < maxAgeMs;
    if (fresh) return this.#value;
    this.#reading ??= this.#read();
    const patience = new AbortController();
    const cancel = clock.after(patienceMs, () => patience.abort());
    try {
      await raceAbort(this.#reading, patience.signal);
    } catch {
      // Only patience ends the wait with an error, and then the old answer has to do.
    } finally {
      cancel();
    }
    return this.#value;
  }

  async #read(): Promise<void> {
    const { clock, read, onError } = this.#deps;
    try {
      this.#value = await read();
      this.#readAt = clock.monotonic();
    } catch (error) {
      onError(error);
    } finally {
      this.#reading = undefined;
    }
  }
}
