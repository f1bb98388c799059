import type { Clock } from '../base/clock.ts';
import type { Lane } from '../model/api-client.ts';

export interface RateLimits {
  /** Requests per second in the long run; 0 or less: no limit. */
  readonly qps: number;
  /** Requests at once after a quiet time. */
  readonly burst: number;
}

/**
 * Lets requests pass at a rate, in order of arrival. `due` is when the next one would pass without a burst; a
 * request may pass up to a burst ahead of that.
 */
class RateLimit {
  readonly #clock: Pick<Clock, 'monotonic' | 'sleep'>;
  readonly #intervalMs: number;
  readonly #aheadMs: number;
  #dueMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, 'monotonic' | 'sleep'>, { qps, burst }: RateLimits) {
    this.#clock = clock;
    this.#intervalMs = qps > 0 ? 1_000 / qps : 0;
    this.#aheadMs = this.#intervalMs * (Math.max(1, burst) - 1);
  }

  async take(signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic();
    const waitMs = Math.max(0, this.#dueMs - this.#aheadMs - now);
    this.#dueMs = Math.max(this.#dueMs, now) + this.#intervalMs;
    if (waitMs <= 0) return;
    try {
      await this.#clock.sleep(waitMs, signal);
    } catch (error) {
      // A cancelled request has not used its slot.
      this.#dueMs -= this.#intervalMs;
      throw error;
    }
  }
}

/** `vital` never waits, and no lane waits for the requests of another. */
export class LaneLimits {
  readonly #normal: RateLimit;
  readonly #events: RateLimit;

  constructor(
    clock: Pick<Clock, 'monotonic' | 'sleep'>,
    limits: { readonly normal: RateLimits; readonly events: RateLimits },
  ) {
    this.#normal = new RateLimit(clock, limits.normal);
    this.#events = new RateLimit(clock, limits.events);
  }

  async take(lane: Lane, signal: AbortSignal): Promise<void> {
    if (lane === 'normal') await this.#normal.take(signal);
    else if (lane === 'events') await this.#events.take(signal);
  }
}
