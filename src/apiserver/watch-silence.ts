import type { CancelTimer, Clock } from '../base/clock.ts';

/** Bookmarks come about every minute; three more are tolerance for a busy server. */
const bookmarkEveryMs = 60_000;
const slackMs = 180_000;

/**
 * Detects a watch that receives nothing any more. The server promises an end after the requested time and,
 * once it has sent one, a bookmark each minute.
 */
export class WatchSilence {
  readonly #clock: Pick<Clock, 'monotonic' | 'after'>;
  readonly #onSilence: () => void;
  readonly #endMs: number;
  #heardMs: number;
  #bookmarked = false;
  #cancel: CancelTimer;

  constructor(clock: Pick<Clock, 'monotonic' | 'after'>, timeoutSeconds: number, onSilence: () => void) {
    this.#clock = clock;
    this.#onSilence = onSilence;
    this.#heardMs = clock.monotonic();
    this.#endMs = this.#heardMs + timeoutSeconds * 1_000 + slackMs;
    this.#cancel = this.#arm();
  }

  /** Anything was received. */
  heard(): void {
    this.#heardMs = this.#clock.monotonic();
  }

  bookmarked(): void {
    if (this.#bookmarked) return;
    this.#bookmarked = true;
    this.#cancel();
    this.#cancel = this.#arm();
  }

  stop(): void {
    this.#cancel();
  }

  #dueMs(): number {
    return this.#bookmarked ? Math.min(this.#endMs, this.#heardMs + bookmarkEveryMs + slackMs) : this.#endMs;
  }

  /** The timer checks when it fires whether something was received meanwhile: hundreds of watches arm few timers. */
  #arm(): CancelTimer {
    return this.#clock.after(this.#dueMs() - this.#clock.monotonic(), () => {
      if (this.#clock.monotonic() >= this.#dueMs()) this.#onSilence();
      else this.#cancel = this.#arm();
    });
  }
}
