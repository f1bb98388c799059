import type { Clock } from './clock.ts';
import type { Heartbeats } from './heartbeats.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Random } from './random.ts';

/** What the root of every subsystem is given, to hand on to the components it makes. */
export interface CommonPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly heartbeats: Heartbeats;
}
