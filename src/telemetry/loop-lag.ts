import type { Clock } from '../base/clock.ts';
import { beatMs, type Beats } from './engine-meter.ts';
import type { SummaryReading } from './observed.ts';

interface LoopLagDeps {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly beats: Beats;
}

/** Quantiles are of the last one to two of these. */
const windowMs = 30_000;
const quantiles = [0.5, 0.9, 0.99, 1] as const;

/**
 * How much later than due the event loop comes to things. Quantiles are of late; sum and count are of all time. Each
 * reader who comes at least every half minute sees the worst there was, however many readers there are.
 *
 *   beats ──> this window ──30 s──> the window before ──30 s──> dropped
 */
export class LoopLag {
  readonly #clock: LoopLagDeps['clock'];
  readonly #beats: Beats;
  #since = 0;
  #before: readonly number[] = quantiles.map(() => 0);
  #sum = 0;
  #count = 0;

  constructor({ clock, beats }: LoopLagDeps) {
    this.#clock = clock;
    this.#beats = beats;
  }

  enable(): void {
    this.#since = this.#clock.monotonic();
    this.#beats.enable();
  }

  disable(): void {
    this.#beats.disable();
  }

  read(): SummaryReading {
    const now = quantiles.map((quantile) => this.#quantile(quantile));
    const worst = now.map((value, index) => Math.max(value, this.#before[index] ?? 0));
    const { count } = this.#beats;
    const here = count === 0 ? 0 : lagSeconds(this.#beats.mean) * count;
    const reading = {
      quantiles: quantiles.map((quantile, index) => [quantile, worst[index] ?? 0] as const),
      sum: this.#sum + here,
      count: this.#count + count,
    };
    if (this.#clock.monotonic() - this.#since >= windowMs) {
      this.#before = now;
      [this.#sum, this.#count] = [reading.sum, reading.count];
      this.#since = this.#clock.monotonic();
      this.#beats.reset();
    }
    return reading;
  }

  #quantile(quantile: number): number {
    if (this.#beats.count === 0) return 0;
    return lagSeconds(quantile === 1 ? this.#beats.max : this.#beats.percentile(quantile * 100));
  }
}

/** A beat that comes in time is no lag. */
const lagSeconds = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - beatMs / 1e3);
