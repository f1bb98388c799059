import type { Calls } from '../base/calls.ts';
import type { Clock } from '../base/clock.ts';
import type { Heartbeats } from '../base/heartbeats.ts';
import type { Log } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Random } from '../base/random.ts';
import type { Decisions } from './decisions.ts';

/** The ports that the root of every subsystem gets and passes to its components. */
export interface CommonPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The loops of the agent. */
  readonly heartbeats: Heartbeats;
  /** What was decided about pods and the node, and why. */
  readonly decisions: Decisions;
  /** Calls that leave the agent, while they are under way. */
  readonly calls: Calls;
}
