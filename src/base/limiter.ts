import { setMaxListeners } from 'node:events';

/** Lets at most `max` pieces of work run at a time; the others wait their turn in order of arrival. */
export class Limiter {
  readonly #max: number;
  readonly #waiting = new Set<() => void>();
  #active = 0;

  constructor(max: number) {
    if (!(max >= 1)) throw new RangeError(`a limiter needs room for one at least, not ${max}`);
    this.#max = max;
  }

  get active(): number {
    return this.#active;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** A signal takes the work out of the queue; work that has begun must watch the signal itself. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    // Where there is room, the work begins in this very turn of the event loop.
    if (this.#active < this.#max && signal?.aborted !== true) this.#active++;
    else await this.#turn(signal);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const admit = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = (): void => {
        this.#waiting.delete(admit);
        reject(signal?.reason);
      };
      this.#waiting.add(admit);
      // Each waiter removes its listener from the signal: Node need not warn of eleven.
      if (signal !== undefined) setMaxListeners(0, signal);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Passes the slot straight to the next in line: a caller that comes now must not overtake it. */
  #leave(): void {
    const next = this.#waiting.values().next().value;
    if (next === undefined) {
      this.#active--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
