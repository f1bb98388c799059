import { InvariantError } from './errors.ts';

/**
 * Lets one waiter sleep until another part of the agent wakes it. A wake carries nothing, and one that finds no waiter is
 * forgotten, so the waiter checks its condition before it waits and after each wake.
 */
export class Wakeup {
  #wake: (() => void) | undefined;

  get waiting(): boolean {
    return this.#wake !== undefined;
  }

  wake(): void {
    this.#wake?.();
  }

  /** Resolves at the next wake; rejects with the signal's reason as soon as the signal aborts. */
  wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#wake !== undefined) throw new InvariantError('only one may wait here at a time');
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const onAbort = (): void => {
        this.#wake = undefined;
        reject(signal.reason);
      };
      this.#wake = () => {
        this.#wake = undefined;
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }
}
