import { raceAbort } from '../../base/abort.ts';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { Behaviour, Exit } from './behaviour.ts';

export interface ProcessEnd {
  readonly code: number;
  readonly reason?: string;
}

/**
 * The main process of a fake container.
 *
 *   running ──exit of its own / SIGTERM / SIGKILL──> ended (once)
 */
export class FakeProcess {
  readonly #clock: Clock;
  readonly #behaviour: Behaviour;
  readonly #onEnd: (end: ProcessEnd) => void;
  readonly #timers: CancelTimer[] = [];
  readonly #ended: Promise<void>;
  #resolveEnded: () => void = () => {};
  #running = true;

  constructor(clock: Clock, behaviour: Behaviour, onEnd: (end: ProcessEnd) => void) {
    this.#clock = clock;
    this.#behaviour = behaviour;
    this.#onEnd = onEnd;
    this.#ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  /** Arms the exit of its own. */
  start(): void {
    this.#behaviour.told?.('starts');
    if (this.#behaviour.exit !== undefined) this.#endLater(this.#behaviour.exit);
  }

  term(): void {
    const { onTerm, told } = this.#behaviour;
    told?.('asked');
    if (this.#behaviour.unkillable === true || onTerm === 'ignore') return;
    this.#endLater(onTerm ?? { afterMs: 0, code: 143 });
  }

  kill(): void {
    if (this.#behaviour.unkillable !== true) this.end({ code: 137 });
  }

  /** Ends it whatever it is. */
  end(end: ProcessEnd): void {
    if (!this.#running) return;
    this.#running = false;
    for (const cancel of this.#timers) cancel();
    this.#behaviour.told?.('ends');
    this.#onEnd(end);
    this.#resolveEnded();
  }

  /** Resolves when it has ended; rejects with the signal's reason. */
  ended(signal: AbortSignal): Promise<void> {
    return raceAbort(this.#ended, signal);
  }

  /** SIGTERM, the grace, SIGKILL, and the wait for the end, as `StopContainer` does it. */
  async stop(graceMs: number, signal: AbortSignal): Promise<void> {
    if (graceMs > 0) {
      this.term();
      if (!this.#running) return;
      const cancel = this.#clock.after(graceMs, () => this.kill());
      try {
        return await this.ended(signal);
      } finally {
        cancel();
      }
    }
    this.kill();
    await this.ended(signal);
  }

  #endLater(exit: Exit): void {
    const end: ProcessEnd = { code: exit.code, ...(exit.reason === undefined ? {} : { reason: exit.reason }) };
    if (exit.afterMs <= 0) this.end(end);
    else this.#timers.push(this.#clock.after(exit.afterMs, () => this.end(end)));
  }
}
