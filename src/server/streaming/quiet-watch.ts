import type { Duplex } from 'node:stream';
import type { CancelTimer, Clock } from '../../base/clock.ts';

/** Tells once when nothing has come from any of the streams for `limitMs`. Only for streams that flow already. */
export class QuietWatch {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #streams: readonly Duplex[];
  readonly #onQuiet: () => void;
  #lastMoved: number;
  #cancel: CancelTimer;

  constructor(clock: Clock, limitMs: number, streams: readonly Duplex[], onQuiet: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#streams = streams;
    this.#onQuiet = onQuiet;
    this.#lastMoved = clock.monotonic();
    for (const stream of streams) stream.on('data', this.#onData);
    this.#cancel = clock.after(limitMs, this.#check);
  }

  stop(): void {
    this.#cancel();
    for (const stream of this.#streams) stream.off('data', this.#onData);
  }

  /** Per chunk there is no more than this; the timer finds out later how long ago it was. */
  readonly #onData = (): void => {
    this.#lastMoved = this.#clock.monotonic();
  };

  readonly #check = (): void => {
    const leftMs = this.#lastMoved + this.#limitMs - this.#clock.monotonic();
    if (leftMs > 0) this.#cancel = this.#clock.after(leftMs, this.#check);
    else this.#onQuiet();
  };
}
