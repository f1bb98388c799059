import type { CancelTimer, Clock } from '../../base/clock.ts';

interface LagWatch {
  /** By how much the agent's event loop was late since the watch began, in milliseconds. */
  lagMs(): number;
  end(): void;
}

const tickMs = 100;

/**
 * How late the agent's event loop runs, measured by a tick that should come every 100 ms. It ticks only while a probe is
 * under way, so an agent without probes has no timer for it.
 */
export class LoopLag {
  readonly #clock: Clock;
  #watches = 0;
  #lagMs = 0;
  #dueAt = 0;
  #cancel: CancelTimer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  watch(): LagWatch {
    if (this.#watches++ === 0) this.#arm();
    const before = this.#total();
    let ended = false;
    return {
      lagMs: () => this.#total() - before,
      end: () => {
        if (ended) return;
        ended = true;
        if (--this.#watches === 0) this.#cancel?.();
      },
    };
  }

  /** A tick that is overdue counts already: after a stall, other timers may fire before it. */
  #total(): number {
    return this.#lagMs + Math.max(0, this.#clock.monotonic() - this.#dueAt);
  }

  #arm(): void {
    this.#dueAt = this.#clock.monotonic() + tickMs;
    this.#cancel = this.#clock.after(tickMs, () => {
      this.#lagMs = this.#total();
      this.#arm();
    });
  }
}
