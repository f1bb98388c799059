import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podUid, type PodUid } from '../base/ids.ts';
import type { PodStats } from '../model/stats-summary.ts';
import { plain } from '../testing/fake-api-server/json.ts';
import { anInstance, aPod, aSandbox, observedPod } from '../testing/pods.ts';
import { StatsWorld } from '../testing/stats-world.ts';
import type { DriverUsages, PodVolume } from './ports.ts';
import type { Stats } from './stats.ts';

const { signal } = new AbortController();
const pvc = { name: 'data', namespace: 'default' };
const claimed: PodVolume = { name: 'data', path: '/data', kind: 'persistent', origin: 'elsewhere', pvc };
const scratch: PodVolume = { name: 'scratch', path: '/scratch', kind: 'ephemeral' };
const never = (): Promise<never> => new Promise(() => {});

/** Pods with a container each, and these volumes. */
function setUp(volumes: readonly PodVolume[], pods = ['u1']): StatsWorld {
  const world = new StatsWorld();
  world.pods = pods.map((uid) => ({
    pod: aPod({ uid, name: `web-${uid}` }),
    startTime: undefined,
    seen: observedPod([aSandbox(`s-${uid}`)], [anInstance('main', { id: `c-${uid}` })], uid),
  }));
  for (const uid of pods) world.volumes.set(uid, volumes);
  world.trees.set('/scratch', { bytes: 8_192, inodes: 2 });
  return world;
}

async function page(world: StatsWorld, stats: Stats, waitMs = 400): Promise<PodStats | undefined> {
  const answer = stats.summary({ onlyCpuAndMemory: false }, signal);
  await world.clock.advance(waitMs);
  return (await answer).pods[0];
}

const names = (pod: PodStats | undefined) => (pod?.volume ?? []).map(({ name }) => name);

describe('a volume of a claim', () => {
  test('is reported with its claim, by its file system as a whole', async () => {
    const world = setUp([claimed]);
    const pod = await page(world, world.stats());
    const [volume] = pod?.volume ?? [];
    assert.deepEqual([volume?.pvcRef, volume?.capacityBytes, volume?.usedBytes], [pvc, 1_000_000, 200_000]);
    assert.deepEqual(world.count('tree /data'), 0);
    assert.equal(pod?.['ephemeral-storage']?.usedBytes, 0, 'and counts for nothing of the node');
  });

  test('whose driver reports is not measured', async () => {
    const world = setUp([claimed]);
    const asked: unknown[] = [];
    const drivers: DriverUsages = {
      volumeUsage: async (volume) => {
        asked.push(volume);
        const sizes = { capacity: 100, available: 40, used: 60, inodes: undefined };
        const usage = { ...sizes, at: 0, inodesFree: undefined, inodesUsed: undefined, isAbnormal: true };
        return { driver: 'disks.example', usage };
      },
    };
    const stats = world.stats({}, { drivers });
    const [volume] = (await page(world, stats))?.volume ?? [];
    assert.deepEqual(asked, [{ uid: 'u1', name: 'data', path: '/data' }]);
    assert.deepEqual([volume?.usedBytes, volume?.volumeHealthStats], [60, { abnormal: true }]);
    assert.equal(
      volume !== undefined && 'inodes' in plain(volume),
      false,
      'what the driver does not report is left out',
    );
    assert.equal(world.count('filesystem /data'), 0);
    assert.deepEqual(world.measured, [['disks.example', 0]]);
    assert.deepEqual(await stats.claims(), [
      { namespace: 'default', claim: 'data', capacityBytes: 100, availableBytes: 40, usedBytes: 60, isAbnormal: true },
    ]);
  });

  test('whose driver does not report is measured by its file system', async () => {
    const world = setUp([claimed]);
    const stats = world.stats({}, { drivers: { volumeUsage: async () => undefined } });
    assert.deepEqual(names(await page(world, stats)), ['data']);
    assert.deepEqual(world.measured, [['statfs', 0]]);
  });

  test('that is a device has a size and nothing else', async () => {
    const world = setUp([{ ...claimed, origin: 'device' }]);
    const [volume] = (await page(world, world.stats()))?.volume ?? [];
    assert.deepEqual([volume?.capacityBytes, volume?.usedBytes], [1 << 20, undefined]);
    assert.deepEqual(world.measured, [['block', 0]]);
  });
});

describe('claims for the metrics', () => {
  test('one that two pods use is reported once, and no other is measured', async () => {
    const world = setUp([claimed, scratch], ['u1', 'u2']);
    const claims = await world.stats().claims();
    assert.deepEqual(claims, [
      {
        namespace: 'default',
        claim: 'data',
        capacityBytes: 1_000_000,
        availableBytes: 700_000,
        usedBytes: 200_000,
        inodes: 1_000,
        inodesFree: 600,
        inodesUsed: 400,
      },
    ]);
    assert.deepEqual(world.asked, ['filesystem /data', 'filesystem /data']);
  });

  test('where volumes are not wanted there are none', async () => {
    const world = setUp([claimed]);
    assert.deepEqual(await world.stats({ volumePeriodMs: 0 }).claims(), []);
    assert.deepEqual(world.asked, []);
  });

  test('of a pod that was removed are not reported any more', async () => {
    const world = setUp([claimed]);
    const stats = world.stats();
    await stats.claims();
    world.pods = [];
    assert.deepEqual(await stats.claims(), []);
  });
});

describe('a server that does not answer', () => {
  test('takes nothing of the other volumes, and delays one page once', async () => {
    const world = setUp([claimed, scratch]);
    world.distant.add('/data');
    world.before = (what) => (what === 'distant /data' ? never() : Promise.resolve());
    const stats = world.stats();
    assert.deepEqual(names(await page(world, stats, 2_500)), ['scratch']);
    assert.equal(world.count('filesystem /data'), 0, 'no thread of ours waits for it');
    for (const _ of [1, 2, 3]) {
      await world.clock.advance(60_000);
      const began = world.clock.monotonic();
      const answer = stats.summary({ onlyCpuAndMemory: false }, signal);
      await world.clock.advance(250);
      assert.deepEqual(names((await answer).pods[0]), ['scratch'], `at ${began}`);
    }
    assert.equal(world.count('distant'), 1, 'it is not asked again before it has answered');
  });

  test('makes room for others that are asked the same way', async () => {
    const many = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({ ...claimed, name, path: `/${name}` }));
    const world = setUp(many);
    for (const { path } of many) world.distant.add(path);
    world.before = (what) => (what === 'distant /f' ? Promise.resolve() : never());
    const stats = world.stats();
    await page(world, stats, 2_500);
    assert.equal(world.count('distant'), 4);
    await world.clock.advance(5_000);
    assert.deepEqual(names(await page(world, stats)), ['f']);
  });

  test('is asked again after it refused, without a page that waits, and its refusal is logged once', async () => {
    const world = setUp([claimed]);
    world.distant.add('/data');
    let isBack = false;
    world.before = async (what) => {
      if (what !== 'distant /data') return;
      await world.clock.sleep(1_000);
      if (!isBack) throw new Error('signal: SIGKILL');
    };
    const stats = world.stats();
    await page(world, stats, 2_500);
    for (const _ of [1, 2]) {
      await world.clock.advance(120_000);
      await page(world, stats, 250);
      await world.clock.advance(1_000);
    }
    assert.equal(world.count('distant'), 3);
    assert.deepEqual(world.log.messages('error'), ['Cannot measure a volume']);
    isBack = true;
    await world.clock.advance(120_000);
    assert.deepEqual(names(await page(world, stats, 250)), []);
    await world.clock.advance(1_000);
    assert.deepEqual(names(await page(world, stats)), ['data']);
  });
});

describe('storage of pods with limits', () => {
  const u1 = podUid('u1');
  const ask = async (world: StatsWorld, stats: Stats, what: 'volumes' | 'everything' = 'everything') => {
    const answer = stats.storage(new Map<PodUid, typeof what>([[u1, what]]));
    await world.clock.advance(0);
    return (await answer).get(u1);
  };

  test('is measured every ten seconds, though pages are content with older values', async () => {
    const world = setUp([scratch]);
    const stats = world.stats();
    await page(world, stats);
    await world.clock.advance(10_000);
    world.trees.set('/scratch', { bytes: 20_480, inodes: 3 });
    assert.equal((await page(world, stats))?.volume?.[0]?.usedBytes, 8_192);
    const usage = await ask(world, stats);
    assert.deepEqual(usage?.volumes, new Map([['scratch', 20_480]]));
    assert.equal(usage?.ephemeral, 20_480);
    assert.equal(world.count('listContainerStats'), 2, 'layers of containers count for the limit, too');
  });

  test('a folder that takes long to walk through is walked through less often', async () => {
    const world = setUp([scratch]);
    world.before = (what) => (what === 'tree /scratch' ? world.clock.sleep(2_000) : Promise.resolve());
    const stats = world.stats();
    for (let second = 0; second < 120; second += 10) {
      void stats.storage(new Map([[u1, 'volumes' as const]]));
      await world.clock.advance(10_000);
    }
    assert.equal(world.count('tree /scratch'), 3);
  });

  test('of volumes alone asks neither for logs nor the runtime, nor volumes from elsewhere', async () => {
    const world = setUp([scratch, claimed]);
    await ask(world, world.stats(), 'volumes');
    assert.deepEqual(world.asked.toSorted(), ['filesystem /scratch', 'filesystem /var/lib/kubelet', 'tree /scratch']);
  });

  test('is measured also where volumes are not measured for pages', async () => {
    const world = setUp([scratch]);
    const usage = await ask(world, world.stats({ volumePeriodMs: 0 }));
    assert.deepEqual(usage?.volumes, new Map([['scratch', 8_192]]));
  });

  test('of pods that were not asked for and of pods that do not run there is none', async () => {
    const world = setUp([scratch]);
    world.pods = [];
    assert.equal(await ask(world, world.stats()), undefined);
  });
});
