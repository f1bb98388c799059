import type { Clock } from '../../base/clock.ts';
import type { FakePrograms } from './behaviour.ts';
import type { FakeEvents } from './events.ts';
import type { FakeHealth } from './health.ts';
import type { FakeImages } from './images.ts';
import type { FakeLogSink } from './logs.ts';
import type { FakeState } from './state.ts';

/** What the verbs about sandboxes and containers work on. */
export interface ContainerDeps {
  readonly clock: Clock;
  readonly state: FakeState;
  readonly events: FakeEvents;
  readonly health: Pick<FakeHealth, 'supplementalGroupsPolicy'>;
  readonly images: FakeImages;
  readonly programs: FakePrograms;
  readonly logs: FakeLogSink;
}
