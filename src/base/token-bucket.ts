import type { Clock } from './clock.ts';

export interface Rate {
  /** How many a second in the long run; 0 for no limit. */
  readonly perSecond: number;
  /** How many at once after a quiet time. */
  readonly burst: number;
}

/** Limits a rate: `tryTake` returns false while there is no token. It begins full. */
export class TokenBucket {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #rate: Rate;
  #tokens: number;
  #filledAt: number;

  constructor(clock: Pick<Clock, 'monotonic'>, rate: Rate) {
    this.#clock = clock;
    this.#rate = rate;
    this.#tokens = rate.burst;
    this.#filledAt = clock.monotonic();
  }

  tryTake(): boolean {
    const { perSecond, burst } = this.#rate;
    if (perSecond <= 0) return true;
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAt) * perSecond) / 1_000);
    this.#filledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }
}
