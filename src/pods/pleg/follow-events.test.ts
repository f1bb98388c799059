import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContainerEventResponse } from '../../gen/cri/api.ts';
import { createFakeCri, type FakeCri } from '../../testing/fake-cri/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { aPod, runSandbox } from '../../testing/pods.ts';
import { TubeletError } from '../../base/errors.ts';
import { followEvents } from './follow-events.ts';
import { criEventSource } from './event-sources.ts';
import type { RuntimeEventSource, ObservableRuntime } from './ports.ts';

interface World {
  readonly clock: FakeClock;
  readonly cri: FakeCri;
  readonly log: MemoryLog;
  readonly events: string[];
  /** `open` and `closed`, in order. */
  readonly stages: string[];
  readonly stop: AbortController;
  /** How the call ended, once it has. */
  readonly ended: () => string;
}

function follow(
  prepare: (cri: FakeCri) => Partial<ObservableRuntime> | void = () => {},
  others: readonly RuntimeEventSource[] = [],
): World {
  const clock = new FakeClock();
  const cri = createFakeCri({ clock });
  const log = new MemoryLog();
  const stop = new AbortController();
  const events: string[] = [];
  const stages: string[] = [];
  const runtime = { ...cri, ...prepare(cri) };
  let ended = 'follows';
  followEvents({
    sources: [criEventSource(runtime), ...others],
    log,
    clock,
    signal: stop.signal,
    onEvent: ({ uid, containerId }) => void events.push(uid ?? containerId ?? ''),
    onOpen: () => void stages.push('open'),
    onClose: () => void stages.push('closed'),
  }).then(
    () => (ended = 'returned'),
    (error: Error) => (ended = `failed: ${error.message}`),
  );
  return { clock, cri, log, events, stages, stop, ended: () => ended };
}

test('each event names its pod', async () => {
  const { clock, cri, events, ended } = follow();
  await clock.settle();
  await runSandbox(cri, aPod());
  await runSandbox(cri, aPod({ uid: 'uid-2', name: 'other' }));
  await clock.settle();
  assert.deepEqual(events, ['uid-1', 'uid-1', 'uid-2', 'uid-2']);
  assert.equal(ended(), 'follows');
  assert.equal(clock.pending(), 0, 'an open stream costs no timer');
});

test('a stream that ends after an event is opened again after a second, not at once', async () => {
  const { clock, ended } = follow(() => ({
    async *containerEvents() {
      yield ContainerEventResponse.fromPartial({ containerId: 'c1' });
    },
  }));
  await clock.advance(999);
  assert.equal(ended(), 'follows');
  await clock.advance(1);
  assert.equal(ended(), 'returned');
});

test('a stream that ends at once without an event is tried a second time, then counts as switched off', async () => {
  const { clock, stages, log, ended } = follow(() => ({ async *containerEvents() {} }));
  await clock.advance(999);
  assert.deepEqual(stages, ['open', 'closed']);
  await clock.advance(10 * 60_000);
  assert.deepEqual(stages, ['open', 'closed', 'open', 'closed'], 'not every second');
  assert.equal(log.messages().at(-1), 'The runtime has no container events, relying on relists');
  assert.equal(ended(), 'follows');
  await clock.advance(1);
  assert.equal(ended(), 'returned');
});

test('a stream that ended once because the runtime went down is followed when it is back', async () => {
  let asked = 0;
  const { clock, cri, events } = follow((fake) => ({
    containerEvents: (signal: AbortSignal) =>
      asked++ === 0 ? (async function* () {})() : fake.containerEvents(signal),
  }));
  await clock.advance(1_000);
  await runSandbox(cri, aPod());
  await clock.settle();
  assert.deepEqual(events, ['uid-1', 'uid-1']);
});

test('where the best stream is switched off, the next one is followed', async () => {
  const world = follow(() => ({ async *containerEvents() {} }), [other]);
  await world.clock.advance(1_000);
  assert.deepEqual(world.events, ['c1']);
});

test('a runtime without events is asked again after ten minutes', async () => {
  const { clock, log, ended } = follow((cri) => {
    cri.events.supported = false;
  });
  await clock.advance(10 * 60_000 - 1);
  assert.equal(ended(), 'follows');
  assert.deepEqual(log.messages(), [
    'Opening the stream of container events',
    'The runtime has no container events, relying on relists',
  ]);
  await clock.advance(1);
  assert.equal(ended(), 'returned');
});

test('a stream that breaks soon is a failure, for the loop to back off', async () => {
  const { clock, cri, ended } = follow();
  await clock.advance(59_000);
  cri.events.breakStreams();
  await clock.settle();
  assert.match(ended(), /^failed: .*broken/);
});

test('a stream that breaks after it lasted is none', async () => {
  const { clock, cri, log, ended } = follow();
  await clock.advance(60_000);
  cri.events.breakStreams();
  await clock.advance(1_000);
  assert.equal(ended(), 'returned');
  assert.deepEqual(log.messages('error'), []);
});

test('an abort ends it at once, and leaves no listener', async () => {
  const { clock, cri, stop, ended } = follow();
  await clock.settle();
  assert.equal(cri.events.listeners(), 1);
  stop.abort();
  await clock.settle();
  assert.notEqual(ended(), 'follows');
  assert.equal(cri.events.listeners(), 0);
  assert.equal(clock.pending(), 0);
});

const refused: RuntimeEventSource = {
  name: 'refused',
  events() {
    throw new TubeletError('unsupported', 'no such service');
  },
};
const other: RuntimeEventSource = {
  name: 'other',
  async *events() {
    yield { containerId: 'c1' };
  },
};

test('where the runtime does not have the best stream, the next one is followed', async () => {
  const world = follow(
    (cri) => {
      cri.events.supported = false;
    },
    [refused, other],
  );
  await world.clock.settle();
  assert.deepEqual(world.events, ['c1']);
  assert.deepEqual(world.stages, ['open', 'closed', 'open', 'closed', 'open', 'closed']);
});

test('a stream that the runtime has is preferred, and only one is followed', async () => {
  const world = follow(() => {}, [other]);
  await world.clock.settle();
  await runSandbox(world.cri, aPod());
  await world.clock.settle();
  assert.deepEqual(world.events, ['uid-1', 'uid-1']);
  assert.deepEqual(world.stages, ['open']);
  world.cri.events.breakStreams();
  await world.clock.settle();
  assert.deepEqual(world.stages, ['open', 'closed']);
});
