import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podUid } from '../../base/ids.ts';
import { createFakeCri, type FakeCri } from '../../testing/fake-cri/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { aPod, runContainer, runSandbox, testImage } from '../../testing/pods.ts';
import { diffListing, type Listing } from './diff-listing.ts';
import { ObservedPods } from './observed-pods.ts';
import { toListing } from './to-listing.ts';

const pod = aPod();
const { uid } = pod;
const never = new AbortController().signal;

interface World {
  readonly clock: FakeClock;
  readonly cri: FakeCri;
  readonly observed: ObservedPods;
  /** How many inspections reached the runtime. */
  readonly inspections: () => number;
  readonly list: () => Promise<Listing>;
  /** A relist as the pleg does it; answers which pods changed. */
  readonly relist: () => Promise<readonly string[]>;
}

function setUp(): World {
  const clock = new FakeClock();
  const cri = createFakeCri({ clock });
  cri.images.add(testImage);
  const observed = new ObservedPods({ runtime: cri });
  const list = async (): Promise<Listing> => {
    const { items } = await cri.listPodSandbox({ filter: undefined });
    return toListing(items, (await cri.listContainers({ filter: undefined })).containers);
  };
  return {
    clock,
    cri,
    observed,
    list,
    // Only an inspection asks for the sandboxes of one pod.
    inspections: () =>
      cri.calls.filter(
        ({ verb, request }) =>
          verb === 'listPodSandbox' && (request as { readonly filter?: unknown }).filter !== undefined,
      ).length,
    async relist() {
      const seq = observed.begin();
      const listing = await list();
      const changed = diffListing(observed.listed(), listing);
      observed.relisted(seq, listing, changed, true);
      return changed;
    },
  };
}

/** A world with one running container that has been inspected. */
async function withPod(): Promise<World & { readonly container: string }> {
  const world = setUp();
  const container = await runContainer(world.cri, pod, await runSandbox(world.cri, pod));
  await world.observed.inspect(uid, never);
  assert.equal(world.inspections(), 1);
  return { ...world, container };
}

describe('newerThan', () => {
  test('inspects where nothing is known', async () => {
    const { observed, inspections } = setUp();
    const seen = await observed.newerThan(uid, 0, never);
    assert.deepEqual([seen.containers, seen.sandboxes, inspections()], [[], [], 1]);
  });

  test('is content with an observation that has a higher number', async () => {
    const { observed, inspections } = await withPod();
    assert.equal((await observed.newerThan(uid, observed.observationSeq() - 1, never)).containers.length, 1);
    assert.equal(inspections(), 1);
  });

  test('inspects when the newest one has that number or a lower one', async () => {
    const { observed, cri, container, inspections } = await withPod();
    cri.killContainer(container);
    const seen = await observed.newerThan(uid, observed.observationSeq(), never);
    assert.equal(seen.containers[0]?.state, 'exited');
    assert.equal(inspections(), 2);
    assert.equal(observed.get(uid), seen);
  });

  test('inspects a pod that is marked as changed, however fresh', async () => {
    const { observed, inspections } = await withPod();
    observed.markChanged(uid);
    await observed.newerThan(uid, 0, never);
    assert.equal(inspections(), 2);
    await observed.newerThan(uid, 0, never);
    assert.equal(inspections(), 2, 'the inspection made it fresh');
  });
});

describe('relist', () => {
  test('an unchanged listing makes known pods fresh', async () => {
    const { observed, relist, inspections } = await withPod();
    const acted = observed.observationSeq();
    assert.deepEqual(await relist(), []);
    assert.equal((await observed.newerThan(uid, acted, never)).containers.length, 1);
    assert.equal(inspections(), 1);
  });

  test('a relist that began before the action proves nothing', async () => {
    const { observed, list, inspections } = await withPod();
    const began = observed.begin();
    const listing = await list();
    const acted = observed.observationSeq();
    observed.relisted(began, listing, [], true);
    await observed.newerThan(uid, acted, never);
    assert.equal(inspections(), 2);
  });

  test('a changed pod is inspected, although the relist is newer than the action', async () => {
    const { observed, cri, container, relist, inspections } = await withPod();
    const acted = observed.observationSeq();
    cri.killContainer(container);
    assert.deepEqual(await relist(), [uid]);
    assert.deepEqual(await relist(), [], 'reported once');
    assert.equal((await observed.newerThan(uid, acted, never)).containers[0]?.state, 'exited');
    assert.equal(inspections(), 2);
  });

  test('a pod that no relist lists is known to have nothing, without an inspection', async () => {
    const { observed, relist, inspections } = await withPod();
    const unlisted = podUid('uid-9');
    const acted = observed.observationSeq();
    await relist();
    const seen = await observed.newerThan(unlisted, acted, never);
    assert.deepEqual([seen.uid, seen.sandboxes, seen.containers], [unlisted, [], []]);
    assert.equal(seen.observedAt > acted, true);
    assert.equal(inspections(), 1);
  });

  test('what an inspection has seen is no news to the next relist', async () => {
    const { observed, cri, container, relist } = await withPod();
    await relist();
    cri.killContainer(container);
    await observed.inspect(uid, never);
    assert.deepEqual(await relist(), []);
  });
});

describe('while an inspection hangs', () => {
  test('a pod that was listed and never seen is not taken for absent', async () => {
    const world = setUp();
    await runContainer(world.cri, pod, await runSandbox(world.cri, pod));
    await world.relist();
    world.cri.faults.delay('containerStatus', 10_000, { times: 1 });
    const giveUp = new AbortController();
    const first = world.observed.newerThan(uid, 0, giveUp.signal);
    await world.clock.settle();
    giveUp.abort(new Error('given up'));
    await assert.rejects(first, /given up/);
    const second = world.observed.newerThan(uid, 0, never);
    await world.clock.settle();
    await world.clock.advance(10_000);
    assert.equal((await second).containers.length, 1);
  });

  test('what was seen before a change is not taken for fresh', async () => {
    const world = await withPod();
    await world.cri.stopContainer({ containerId: world.container, timeout: 0n });
    assert.deepEqual(await world.relist(), [uid]);
    world.cri.faults.delay('containerStatus', 10_000, { times: 1 });
    const giveUp = new AbortController();
    const first = world.observed.newerThan(uid, 0, giveUp.signal);
    await world.clock.settle();
    giveUp.abort(new Error('given up'));
    await assert.rejects(first, /given up/);
    const second = world.observed.newerThan(uid, 0, never);
    await world.clock.settle();
    await world.clock.advance(10_000);
    assert.equal((await second).containers[0]?.state, 'exited');
  });
});

describe('inspect', () => {
  test('a pod that is empty is forgotten', async () => {
    const { observed, cri } = await withPod();
    assert.deepEqual([...observed.listed().keys()], [uid]);
    for (const podSandboxId of cri.state.sandboxes.keys()) await cri.removePodSandbox({ podSandboxId });
    assert.deepEqual((await observed.inspect(uid, never)).sandboxes, []);
    assert.equal(observed.get(uid), undefined);
    assert.deepEqual([...observed.listed().keys()], []);
  });

  test('a late event of a pod that was removed is remembered until a whole list shows nothing of it', async () => {
    const { observed, cri, list, relist, inspections } = await withPod();
    for (const podSandboxId of cri.state.sandboxes.keys()) await cri.removePodSandbox({ podSandboxId });
    await observed.inspect(uid, never);
    const began = observed.begin();
    observed.markChanged(uid);
    observed.relisted(began, await list(), [], true);
    assert.equal(observed.size(), 1, 'the event is newer than the list');
    observed.relisted(observed.begin(), await list(), [], false);
    assert.equal(observed.size(), 1, 'not every pod was asked for');
    await relist();
    assert.equal(observed.size(), 0);
    const before = inspections();
    assert.deepEqual((await observed.newerThan(uid, began, never)).sandboxes, []);
    assert.equal(inspections(), before);
  });

  test('an event of a pod that is listed, or was seen, is cleared only by an inspection', async () => {
    const { observed, cri, relist, inspections } = await withPod();
    observed.markChanged(uid);
    await relist();
    await observed.newerThan(uid, 0, never);
    assert.equal(inspections(), 2);
    for (const podSandboxId of cri.state.sandboxes.keys()) await cri.removePodSandbox({ podSandboxId });
    await relist();
    await relist();
    assert.deepEqual((await observed.newerThan(uid, 0, never)).sandboxes, []);
    assert.deepEqual([inspections(), observed.size()], [3, 0]);
  });

  test('one that fails leaves the pod marked as changed', async () => {
    const { observed, cri, relist, inspections } = await withPod();
    cri.faults.fail('containerStatus', 'unavailable', { times: 1 });
    await assert.rejects(observed.inspect(uid, never));
    await relist();
    assert.equal((await observed.newerThan(uid, 0, never)).containers.length, 1);
    assert.equal(inspections(), 3, 'neither the old observation nor the relist was enough');
  });

  test('a change during the inspection outlives it', async () => {
    const { observed, cri, clock, inspections } = await withPod();
    cri.faults.delay('containerStatus', 100, { times: 1 });
    const inspection = observed.inspect(uid, never);
    await clock.settle();
    observed.markChanged(uid);
    await clock.advance(100);
    await inspection;
    await observed.newerThan(uid, 0, never);
    assert.equal(inspections(), 3);
  });

  test('inspections asked for at once are one inspection', async () => {
    const { observed, inspections } = await withPod();
    const [one, two] = await Promise.all([observed.inspect(uid, never), observed.inspect(uid, never)]);
    assert.equal(one, two);
    assert.equal(inspections(), 2);
  });

  test('one that joins an inspection which began before is repeated', async () => {
    const { observed, cri, clock, inspections } = await withPod();
    cri.faults.delay('listPodSandbox', 100, { times: 1 });
    const early = observed.inspect(uid, never);
    await clock.settle();
    // The early inspection has its list of containers already and waits for the sandboxes; what comes now is not in it.
    for (const sandbox of cri.state.sandboxes.keys()) await runContainer(cri, pod, sandbox, 'side');
    const late = observed.inspect(uid, never);
    await clock.advance(100);
    assert.equal((await early).containers.length, 1);
    assert.equal((await late).containers.length, 2);
    assert.equal((await late).observedAt > (await early).observedAt, true);
    assert.equal(inspections(), 3);
  });

  test('a caller that waits can give up; the inspection goes on and is kept', async () => {
    const { observed, cri, clock, container } = await withPod();
    cri.killContainer(container);
    cri.faults.delay('listPodSandbox', 100, { times: 1 });
    const gaveUp = new AbortController();
    const inspection = observed.inspect(uid, gaveUp.signal);
    await clock.settle();
    gaveUp.abort(new Error('enough'));
    await assert.rejects(inspection, /enough/);
    await clock.advance(100);
    assert.equal(observed.get(uid)?.containers[0]?.state, 'exited');
  });
});

test('a relist that did not ask for all the runtime has says nothing of a pod that nobody knew', async () => {
  const { observed, cri } = setUp();
  await runContainer(cri, pod, await runSandbox(cri, pod));
  observed.relisted(observed.begin(), new Map(), [], false);
  const seen = await observed.newerThan(uid, 0, never);
  assert.deepEqual([seen.sandboxes.length, seen.containers.length], [1, 1]);
});
