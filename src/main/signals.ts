import type { Clock } from '../base/clock.ts';

/** The source of signals: the process, or a test. */
interface SignalSource {
  on(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
}

/**
 * A wrapper that forwards a signal and a process group that gets it as a whole deliver one request twice. Signals this
 * close together count as one.
 */
const sameRequestMs = 300;

/** Aborts at the first SIGINT or SIGTERM for an orderly stop; the second one calls `exitNow`. */
export function onSignals(source: SignalSource, clock: Pick<Clock, 'monotonic'>, exitNow: () => void): AbortSignal {
  const controller = new AbortController();
  let firstAt = 0;
  const onSignal = (): void => {
    if (!controller.signal.aborted) {
      firstAt = clock.monotonic();
      controller.abort();
    } else if (clock.monotonic() - firstAt >= sameRequestMs) exitNow();
  };
  source.on('SIGINT', onSignal);
  source.on('SIGTERM', onSignal);
  return controller.signal;
}
