import type { AuditEvent } from '../audit.ts';

/** Requests that count against a budget of so many at once, and so many per second in the long run. */
interface Budget {
  readonly burst: number;
  readonly qps: number;
}

type Lane = 'vital' | 'normal' | 'events';

/** Which budget of the agent a request is paid from. Its lease and its node's status are never held up. */
export function laneOf({ requestURI, verb }: AuditEvent): Lane {
  const { pathname } = new URL(requestURI, 'https://server');
  if (/\/leases(\/|$)/.test(pathname)) return 'vital';
  if (/\/nodes\/[^/]+\/status$/.test(pathname)) return 'vital';
  return /\/events(\/|$)/.test(pathname) && verb !== 'list' && verb !== 'watch' ? 'events' : 'normal';
}

/**
 * How far requests went beyond a budget in the worst stretch of time: below one when they kept to it. Each stretch that
 * begins with a request may hold a burst, and what the rate gives meanwhile.
 */
export function excessOf(times: readonly number[], { burst, qps }: Budget): number {
  const sorted = times.toSorted((one, other) => one - other);
  // How much of the burst is used at each moment: a bucket that fills by requests and leaks at the rate.
  let [level, most, last] = [0, 0, Number.NEGATIVE_INFINITY];
  for (const time of sorted) {
    level = Math.max(0, level - ((time - last) / 1_000) * qps) + 1;
    last = time;
    most = Math.max(most, level);
  }
  return most - burst;
}

export const receivedAt = (event: AuditEvent): number => Date.parse(event.requestReceivedTimestamp);
