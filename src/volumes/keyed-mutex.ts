import { raceAbort } from '../base/abort.ts';

/** Runs work on one key one at a time, in order of arrival; work on other keys runs beside it. */
export class KeyedMutex {
  /** The end of the last work of each key. They never reject. */
  readonly #lines = new Map<string, Promise<void>>();

  keys(): Iterable<string> {
    return this.#lines.keys();
  }

  /** Work that waits is dropped when the signal aborts; work that has begun must watch the signal itself. */
  async run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const before = this.#lines.get(key) ?? Promise.resolve();
    const result = before.then(() => {
      signal?.throwIfAborted();
      return work();
    });
    const end = result.then(
      () => undefined,
      () => undefined,
    );
    this.#lines.set(key, end);
    void end.then(() => {
      if (this.#lines.get(key) === end) this.#lines.delete(key);
    });
    if (signal !== undefined) await raceAbort(before, signal);
    return result;
  }
}
