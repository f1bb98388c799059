import type { CancelTimer, Clock } from '../../src/base/clock.ts';
import { sleepBy } from '../../src/base/sleep.ts';
import { systemClock } from '../../src/base/system-clock.ts';

const real = systemClock();

/**
 * Real time that goes faster, so that limits of half a minute are reached in a second or two and real sockets still
 * work as they do. It counts its timers: none may be left in the end.
 */
export class QuickClock implements Clock {
  readonly #factor: number;
  readonly #beginWall = real.now();
  readonly #begin = real.monotonic();
  #pending = 0;

  constructor(factor: number) {
    this.#factor = factor;
  }

  now(): number {
    return Math.floor(this.#beginWall + this.monotonic());
  }

  monotonic(): number {
    return (real.monotonic() - this.#begin) * this.#factor;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepBy((delay, callback) => this.after(delay, callback), ms, signal);
  }

  after(ms: number, callback: () => void): CancelTimer {
    this.#pending++;
    let isOver = false;
    const over = (): boolean => {
      if (isOver) return false;
      isOver = true;
      this.#pending--;
      return true;
    };
    const cancel = real.after(ms / this.#factor, () => {
      if (over()) callback();
    });
    return () => {
      if (over()) cancel();
    };
  }

  /** Timers that are armed. */
  pending(): number {
    return this.#pending;
  }
}
