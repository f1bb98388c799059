import type { Clock } from './clock.ts';
import { Limiter } from './limiter.ts';

interface SoftLimitOptions {
  readonly clock: Pick<Clock, 'after'>;
  /** How many pieces of work may hold a slot at a time. */
  readonly max: number;
  /** A piece of work that runs longer than this gives up its slot and goes on without one. */
  readonly releaseAfterMs: number;
}

/**
 * Starts a few pieces of work at a time, and the next one whenever a slot is free. Unlike `Limiter` it does not let a
 * piece that hangs hold up the others for long, because that piece loses its slot:
 *
 *   waiting ──slot free──> begun ──done, failed──────> slot free
 *                            └──── releaseAfterMs ───> slot free, the work goes on
 */
export class SoftLimit {
  readonly #options: SoftLimitOptions;
  readonly #slots: Limiter;

  constructor(options: SoftLimitOptions) {
    this.#options = options;
    this.#slots = new Limiter(options.max);
  }

  /** A signal takes the work out of the queue; work that has begun must watch the signal itself. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const begin = async (): Promise<void> => {
        const running = work();
        resolve(running);
        await this.#holdSlot(running);
      };
      this.#slots.run(begin, signal).catch(reject);
    });
  }

  /** Resolves when the work ends, however it ends, and after `releaseAfterMs` at the latest. */
  #holdSlot(running: Promise<unknown>): Promise<void> {
    const { clock, releaseAfterMs } = this.#options;
    return new Promise((release) => {
      const cancel = clock.after(releaseAfterMs, release);
      const onEnd = (): void => {
        cancel();
        release();
      };
      running.then(onEnd, onEnd);
    });
  }
}
