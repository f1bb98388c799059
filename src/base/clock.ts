/**
 * Time as the agent sees it. Wall time is for what people and the API read; monotonic time is for measuring and
 * waiting, because the wall may be set back while the process lives. No other code of the agent may read a clock.
 */
export interface Clock {
  /** Wall time in milliseconds since the epoch. */
  now(): number;
  /** Milliseconds on a clock that never goes back; only differences mean something. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason as soon as the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Runs `callback` once after `ms`. The returned function cancels it; calling it late or twice is harmless. */
  after(ms: number, callback: () => void): CancelTimer;
}

export type CancelTimer = () => void;
