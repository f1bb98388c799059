import type { Clock } from '../base/clock.ts';

/**
 * Wall time with microseconds. The wall itself counts milliseconds only, so the fraction comes from the monotonic clock,
 * laid against the wall anew whenever the two have drifted apart or the system's time was set.
 */
export function wallClockOf(clock: Pick<Clock, 'now' | 'monotonic'>): () => number {
  let offset = clock.now() - clock.monotonic();
  return () => {
    const wall = clock.now();
    const fine = clock.monotonic() + offset;
    if (fine >= wall && fine < wall + 1) return fine;
    offset += wall - fine;
    return wall;
  };
}
