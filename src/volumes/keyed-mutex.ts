import { raceAbort } from '../base/abort.ts';

/** Lets work on the same thing wait for each other, in order of arrival; work on other things goes on beside it. */
export class KeyedMutex {
  /** The end of the last in each line. They never reject. */
  readonly #lines = new Map<string, Promise<void>>();

  keys(): Iterable<string> {
    return this.#lines.keys();
  }

  /** Who gives up while waiting leaves the line; work that has begun must watch the signal itself. */
  async run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const before = this.#lines.get(key) ?? Promise.resolve();
    const turn = before.then(() => {
      signal?.throwIfAborted();
      return work();
    });
    const end = turn.then(
      () => undefined,
      () => undefined,
    );
    this.#lines.set(key, end);
    void end.then(() => {
      if (this.#lines.get(key) === end) this.#lines.delete(key);
    });
    if (signal !== undefined) await raceAbort(before, signal);
    return turn;
  }
}
