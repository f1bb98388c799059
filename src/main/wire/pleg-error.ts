import type { Clock } from '../../base/clock.ts';
import { Duration } from '../../base/duration.ts';

const thresholdMs = 3 * 60_000;

/** What is wrong when the runtime's pods have not been listed for long: then nobody knows what runs here. */
export function plegError(
  clock: Pick<Clock, 'monotonic'>,
  startedAt: number,
  lastRelist: number | undefined,
): string | undefined {
  const idleMs = clock.monotonic() - (lastRelist ?? startedAt);
  if (lastRelist === undefined) return 'PLEG is not healthy: pleg has yet to be successful';
  if (idleMs <= thresholdMs) return undefined;
  const idle = Duration.ofMillis(Math.round(idleMs)).toString();
  return `PLEG is not healthy: pleg was last seen active ${idle} ago; threshold is 3m0s`;
}
