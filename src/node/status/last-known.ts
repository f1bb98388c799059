import { raceAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';

interface LastKnownDeps<T> {
  readonly clock: Clock;
  readonly read: () => Promise<T>;
  /** For how long an answer counts as new. */
  readonly maxAgeMs: number;
  /** How long a caller waits for an answer. */
  readonly timeoutMs: number;
  /** A reading failed; the previous answer stays. */
  readonly onError: (error: unknown) => void;
}

/**
 * A value that is read elsewhere, where reading may hang. A caller gets a new value if there is one soon, otherwise the
 * previous one: a node whose runtime hangs must be able to report that. Only one reading runs at a time, however long.
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
    const { clock, maxAgeMs, timeoutMs } = this.#deps;
    const fresh = this.#readAt !== undefined && clock.monotonic() - this.#readAt < maxAgeMs;
    if (fresh) return this.#value;
    this.#reading ??= this.#read();
    const timeout = new AbortController();
    const cancel = clock.after(timeoutMs, () => timeout.abort());
    try {
      await raceAbort(this.#reading, timeout.signal);
    } catch {
      // Only the timeout ends the wait with an error, and then the previous answer is used.
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
