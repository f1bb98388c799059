import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heartbeats } from '../../base/heartbeats.ts';
import { Registry } from '../../telemetry/registry.ts';
import { noDecisions } from '../../testing/no-decisions.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { observedPod } from '../../testing/pods.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { Housekeeping } from './housekeeping.ts';

function setUp() {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const world = { rounds: 0, sourcesReady: true, failure: undefined as Error | undefined, roundMs: 0 };
  const housekeeping = new Housekeeping({
    metrics: new Registry(),
    heartbeats: new Heartbeats(),
    decisions: noDecisions,
    clock,
    random: seededRandom(1),
    log,
    sourcesReady: () => world.sourcesReady,
    isDesired: () => false,
    lifecycles: { uids: () => [], knows: () => false, canBeRemoved: () => false, continuesFormerLife: () => false },
    remembered: () => [],
    workers: { adoptOrphan: () => {}, forget: () => false },
    observed: { listed: () => new Map(), inspect: async (uid) => observedPod([], [], uid) },
    remover: { remove: async () => {} },
    directories: {
      remove: async () => {},
      async uids() {
        world.rounds++;
        if (world.roundMs > 0) await clock.sleep(world.roundMs);
        if (world.failure !== undefined) throw world.failure;
        return new Set();
      },
    },
    podRemoval: { podRemoved: () => {} },
  });
  return { clock, log, world, housekeeping };
}

test('reconciles at its start, at each wake, and every thirty seconds', async () => {
  const { clock, world, housekeeping } = setUp();
  await housekeeping.start();
  await clock.settle();
  assert.equal(world.rounds, 1);
  await clock.advance(29_999);
  assert.equal(world.rounds, 1);
  assert.equal(clock.pending(), 1, 'one timer while idle');
  await clock.advance(1);
  assert.equal(world.rounds, 2);
  housekeeping.wake();
  await clock.settle();
  assert.equal(world.rounds, 3);
  await housekeeping.stop();
  assert.equal(clock.pending(), 0);
});

test('wakes during a round are one more round', async () => {
  const { clock, world, housekeeping } = setUp();
  world.roundMs = 1_000;
  await housekeeping.start();
  await clock.advance(500);
  for (let n = 0; n < 5; n++) housekeeping.wake();
  await clock.advance(5_000);
  assert.equal(world.rounds, 2);
  await housekeeping.stop();
});

test('does not even read the disk before the sources are ready', async () => {
  const { clock, world, housekeeping } = setUp();
  world.sourcesReady = false;
  await housekeeping.start();
  await clock.advance(60_000);
  assert.equal(world.rounds, 0);
  world.sourcesReady = true;
  housekeeping.wake();
  await clock.settle();
  assert.equal(world.rounds, 1);
  await housekeeping.stop();
});

test('a round that fails is logged, and the next one comes', async () => {
  const { clock, log, world, housekeeping } = setUp();
  world.failure = new Error('no disk');
  await housekeeping.start();
  await clock.settle();
  assert.deepEqual(log.messages('error'), ['Loop failed and will go on']);
  world.failure = undefined;
  await clock.advance(32_000);
  assert.equal(world.rounds, 2);
  await housekeeping.stop();
});

test('a removal that fails is tried again soon, then less and less often', async () => {
  const clock = new FakeClock();
  const times: number[] = [];
  let left = true;
  const housekeeping = new Housekeeping({
    metrics: new Registry(),
    heartbeats: new Heartbeats(),
    decisions: noDecisions,
    clock,
    random: seededRandom(1),
    log: new MemoryLog(),
    sourcesReady: () => true,
    isDesired: () => false,
    lifecycles: { uids: () => [], knows: () => false, canBeRemoved: () => false, continuesFormerLife: () => false },
    remembered: () => [],
    workers: { adoptOrphan: () => {}, forget: () => false },
    observed: { listed: () => new Map(), inspect: async (uid) => observedPod([], [], uid) },
    remover: { remove: async () => {} },
    directories: {
      async remove() {
        times.push(clock.monotonic());
        if (times.length < 4) throw new Error('it is busy');
        left = false;
      },
      uids: async () => new Set(left ? ['stray'] : []),
    },
    podRemoval: { podRemoved: () => {} },
  });
  await housekeeping.start();
  await clock.advance(20_000);
  assert.deepEqual(times, [0, 500, 1_500, 3_500]);
  await housekeeping.stop();
  assert.equal(clock.pending(), 0);
});
