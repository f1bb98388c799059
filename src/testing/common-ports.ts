import { noCalls } from '../base/calls.ts';
import { Heartbeats } from '../base/heartbeats.ts';
import type { CommonPorts } from '../model/common-ports.ts';
import { noDecisions } from './no-decisions.ts';
import { Registry } from '../telemetry/index.ts';
import { FakeClock } from './fake-clock.ts';
import { MemoryLog } from './memory-log.ts';
import { seededRandom } from './seeded-random.ts';

/** What every root is given, on virtual time; a test brings what it looks at. */
export function commonPorts<P extends Partial<CommonPorts>>(own: P): CommonPorts & P {
  return {
    clock: new FakeClock(),
    random: seededRandom(1),
    log: new MemoryLog(),
    metrics: new Registry(),
    heartbeats: new Heartbeats(),
    decisions: noDecisions,
    calls: noCalls,
    ...own,
  };
}
