import type { Clock } from '../base/clock.ts';

/** Where signals come from: the process, or a test. */
interface SignalSource {
  on(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
}

/**
 * A wrapper that passes a signal on and a group that gets it as a whole deliver one wish twice. Signals this close
 * together are one.
 */
const sameWishMs = 300;

/** Aborts at the first SIGINT or SIGTERM, which ask for an orderly end; the second does not ask and calls `leave`. */
export function onSignals(source: SignalSource, clock: Pick<Clock, 'monotonic'>, leave: () => void): AbortSignal {
  const controller = new AbortController();
  let firstAt = 0;
  const onSignal = (): void => {
    if (!controller.signal.aborted) {
      firstAt = clock.monotonic();
      controller.abort();
    } else if (clock.monotonic() - firstAt >= sameWishMs) leave();
  };
  source.on('SIGINT', onSignal);
  source.on('SIGTERM', onSignal);
  return controller.signal;
}
