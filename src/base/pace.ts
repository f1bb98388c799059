import type { Clock } from './clock.ts';
import { Limiter } from './limiter.ts';

interface PaceOptions {
  readonly clock: Pick<Clock, 'after'>;
  /** How many begin before others have to wait. */
  readonly most: number;
  /** For so long one that takes its time keeps others waiting. */
  readonly patienceMs: number;
}

/**
 * Spreads a crowd: of many pieces of work that come at once a few begin, and each that ends lets the next begin. Unlike a
 * limit it never holds anybody up for long, for a piece that hangs gives its place away:
 *
 *   waiting ──place free──> begun ──done, failed──────────> place free
 *                             └──── out of patience ──────> place free, the work goes on
 */
export class Pace {
  readonly #options: PaceOptions;
  readonly #places: Limiter;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.#places = new Limiter(options.most);
  }

  /** A signal takes the work out of the queue; work that has begun must watch the signal itself. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const begin = async (): Promise<void> => {
        const running = work();
        resolve(running);
        await this.#patiently(running);
      };
      this.#places.run(begin, signal).catch(reject);
    });
  }

  /** Until the work is over, however it ends, or patience is. */
  #patiently(running: Promise<unknown>): Promise<void> {
    const { clock, patienceMs } = this.#options;
    return new Promise((leave) => {
      const cancel = clock.after(patienceMs, leave);
      const over = (): void => {
        cancel();
        leave();
      };
      running.then(over, over);
    });
  }
}
