import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Heartbeats } from '../../base/heartbeats.ts';
import { Registry } from '../../telemetry/registry.ts';
import { createFakeCri, type FakeCri } from '../../testing/fake-cri/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { aPod, runContainer, runSandbox, testImage } from '../../testing/pods.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { ObservedPods } from './observed-pods.ts';
import { Pleg } from './pleg.ts';

const pod = aPod();
const { uid } = pod;
const never = new AbortController().signal;

interface World {
  readonly clock: FakeClock;
  readonly cri: FakeCri;
  readonly log: MemoryLog;
  readonly observed: ObservedPods;
  readonly pleg: Pleg;
  /** Which pods were reported as changed since the last call. */
  readonly changes: () => string[];
  readonly listings: () => number;
}

function setUp(): World {
  const clock = new FakeClock();
  const cri = createFakeCri({ clock });
  cri.images.add(testImage);
  const log = new MemoryLog();
  const observed = new ObservedPods({ runtime: cri });
  let changed: string[] = [];
  const onChange = (of: string): void => void changed.push(of);
  const deps = {
    clock,
    random: seededRandom(1),
    log,
    heartbeats: new Heartbeats(),
    runtime: cri,
    observed,
    onChange,
    relistPeriodMs: 1_000,
    metrics: new Registry(),
    eventSources: [],
    podsOnDisk: async () => [],
  };
  return {
    clock,
    cri,
    log,
    observed,
    pleg: new Pleg(deps),
    changes() {
      const seen = changed;
      changed = [];
      return seen;
    },
    listings: () => cri.calls.filter(({ verb }) => verb === 'listContainers').length,
  };
}

/** With one running container, seen by relist and inspection. */
async function started(prepare: (cri: FakeCri) => void = () => {}): Promise<World & { readonly container: string }> {
  const world = setUp();
  prepare(world.cri);
  const container = await runContainer(world.cri, pod, await runSandbox(world.cri, pod));
  await world.pleg.start();
  await world.observed.inspect(uid, never);
  await world.clock.advance(1_000);
  world.changes();
  return { ...world, container };
}

const state = async ({ observed }: World): Promise<string | undefined> =>
  (await observed.newerThan(uid, 0, never)).containers[0]?.state;

describe('Pleg', () => {
  test('start has seen the runtime once when it returns', async () => {
    const { cri, pleg, observed, changes } = setUp();
    await runSandbox(cri, pod);
    assert.equal(pleg.unhealthy(), 'pleg has yet to be successful');
    await pleg.start();
    assert.deepEqual([...observed.listed().keys()], [uid]);
    assert.deepEqual(changes(), [uid]);
    assert.equal(pleg.unhealthy(), undefined);
    await pleg.stop();
  });

  test('start fails where the runtime cannot be seen', async () => {
    const { cri, pleg } = setUp();
    cri.crash();
    await assert.rejects(pleg.start(), /down/);
    assert.equal(pleg.unhealthy(), 'pleg has yet to be successful');
    await pleg.stop();
  });

  test('an event reports a death at once', async () => {
    const world = await started();
    world.cri.killContainer(world.container);
    await world.clock.settle();
    assert.deepEqual(world.changes(), [uid]);
    assert.equal(await state(world), 'exited');
    await world.clock.advance(5_000);
    assert.deepEqual(world.changes(), [], 'the inspection made it no news for the relist');
    await world.pleg.stop();
  });

  test('a lost event costs one relist period and no more', async () => {
    const world = await started();
    world.cri.events.loseNext(Number.POSITIVE_INFINITY);
    world.cri.killContainer(world.container);
    await world.clock.advance(999);
    assert.deepEqual(world.changes(), []);
    await world.clock.advance(1);
    assert.deepEqual(world.changes(), [uid]);
    assert.equal(await state(world), 'exited');
    await world.pleg.stop();
  });

  test('a doubled event wakes the pod once', async () => {
    const world = await started();
    world.cri.events.duplicateNext(1);
    world.cri.killContainer(world.container);
    await world.clock.settle();
    assert.deepEqual(world.changes(), [uid]);
    assert.equal(await state(world), 'exited');
    await world.pleg.stop();
  });

  test('a late event of what is known already is dropped', async () => {
    const world = await started();
    world.cri.events.delay(5_000);
    world.cri.killContainer(world.container);
    await world.clock.advance(1_000);
    assert.deepEqual(world.changes(), [uid]);
    assert.equal(await state(world), 'exited');
    await world.clock.advance(9_000);
    assert.deepEqual(world.changes(), []);
    await world.pleg.stop();
  });

  test('works without an event stream', async () => {
    const world = await started((cri) => {
      cri.events.supported = false;
    });
    world.cri.killContainer(world.container);
    await world.clock.advance(1_000);
    assert.deepEqual(world.changes(), [uid]);
    assert.deepEqual(world.log.messages('error'), []);
    await world.pleg.stop();
  });

  test('a pod that vanished is reported', async () => {
    const world = await started((cri) => {
      cri.events.supported = false;
    });
    for (const podSandboxId of world.cri.state.sandboxes.keys()) await world.cri.removePodSandbox({ podSandboxId });
    await world.clock.advance(1_000);
    assert.deepEqual(world.changes(), [uid]);
    await world.pleg.stop();
  });

  test('without events one listing per second while idle, and no timer faster than that', async () => {
    const { clock, pleg, listings } = await started((cri) => {
      cri.events.supported = false;
    });
    const before = listings();
    for (let second = 1; second <= 20; second++) {
      await clock.settle();
      assert.equal(clock.nextDue(), clock.monotonic() + 1_000, `timer of second ${second}`);
      await clock.advance(1_000);
    }
    assert.equal(listings() - before, 20);
    await pleg.stop();
  });

  test('with events the listings of an idle node come less often, up to one in ten seconds', async () => {
    const { clock, pleg } = await started();
    const relists: number[] = [];
    for (let n = 0; n < 7; n++) {
      await clock.settle();
      assert.equal(clock.pending(), 1, 'the relist is the only timer');
      await clock.advanceTo(clock.nextDue() ?? 0);
      relists.push((pleg.lastRelist() ?? 0) / 1_000);
    }
    assert.deepEqual(relists, [2, 4, 8, 16, 26, 36, 46]);
    await pleg.stop();
  });

  test('stop leaves no timer and no listener', async () => {
    const { clock, cri, pleg } = await started();
    await pleg.stop();
    await clock.settle();
    assert.equal(clock.pending(), 0);
    assert.equal(cri.events.listeners(), 0);
  });

  test('stop does not wait for a listing that hangs', async () => {
    const { clock, cri, pleg } = await started();
    cri.faults.hang('listContainers');
    await clock.advance(2_000);
    let stopped = false;
    void pleg.stop().then(() => (stopped = true));
    await clock.settle();
    assert.equal(stopped, true);
  });
});
