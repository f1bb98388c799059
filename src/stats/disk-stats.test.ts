import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodUid } from '../base/ids.ts';
import { anInstance, aPod, aSandbox, observedPod } from '../testing/pods.ts';
import { StatsWorld } from '../testing/stats-world.ts';

const { signal } = new AbortController();
const logFolder = '/var/log/pods/default_web_u1';

/** A pod with a container that runs, and one that has ended. */
function setUp(): StatsWorld {
  const world = new StatsWorld();
  const containers = [anInstance('main', { id: 'c1' }), anInstance('done', { id: 'c0', state: 'exited' })];
  const pod = aPod({ uid: 'u1', name: 'web' });
  world.pods = [{ pod, startTime: undefined, seen: observedPod([aSandbox('s1')], containers, 'u1') }];
  const sizes = { main: { bytes: 8_192, inodes: 2 }, done: { bytes: 4_096, inodes: 1 } };
  world.logFolders.set(logFolder, new Map(Object.entries(sizes)));
  return world;
}

describe('the sizes of logs', () => {
  test('are reported of what runs, and measured once in a while', async () => {
    const world = setUp();
    const stats = world.stats();
    const size = { uid: 'u1', namespace: 'default', pod: 'web', container: 'main', bytes: 8_192 };
    assert.deepEqual(await stats.logs(), [size]);
    await world.clock.advance(30_000);
    world.logFolders.set(logFolder, new Map([['main', { bytes: 12_288, inodes: 2 }]]));
    assert.deepEqual(await stats.logs(), [size]);
    await world.clock.advance(120_000);
    assert.deepEqual(await stats.logs(), [{ ...size, bytes: 12_288 }]);
    assert.deepEqual(world.asked, [`folders ${logFolder}`, `folders ${logFolder}`], 'nothing else is asked for');
  });

  test('of a pod that was removed are forgotten', async () => {
    const world = setUp();
    const stats = world.stats();
    await stats.logs();
    const before = world.pods;
    world.pods = [];
    assert.deepEqual(await stats.logs(), []);
    world.pods = before;
    await stats.logs();
    assert.equal(world.count('folders'), 2);
  });

  test('do not hold a page up for long, on a disk that does not answer', async () => {
    const world = setUp();
    world.before = () => new Promise(() => {});
    const answer = world.stats().logs();
    await world.clock.advance(2_000);
    assert.deepEqual(await answer, []);
  });
});

test('the few files of the agent itself are measured less often, unless eviction wants them new', async () => {
  const world = setUp();
  const stats = world.stats();
  const isOwn = (what: string): boolean => what.startsWith('tree ') && what.endsWith('/etc-hosts');
  const own = (): number => world.asked.filter(isOwn).length;
  for (let minute = 0; minute < 15; minute++) {
    const page = stats.summary({ onlyCpuAndMemory: false }, signal);
    await world.clock.advance(60_000);
    await page;
  }
  const files = own();
  // Folders are listed for both.
  const logs = world.count('folders') - files;
  assert.ok(files >= 2 && files <= 3, `measured ${files} times in a quarter of an hour`);
  assert.ok(logs >= 7, `logs were measured ${logs} times`);
  const storage = stats.storage(new Map([['u1' as PodUid, 'everything']]));
  await world.clock.advance(1_000);
  await storage;
  assert.equal(own(), files + 1);
});

test('how volumes were measured is reported, and how long it took', async () => {
  const world = setUp();
  world.volumes.set('u1', [
    { name: 'own', path: '/own', kind: 'persistent' },
    { name: 'folder', path: '/folder', kind: 'ephemeral' },
    { name: 'broken', path: '/broken', kind: 'ephemeral' },
  ]);
  world.mountPoints.add('/own');
  world.before = async (what) => {
    if (what === 'tree /folder') await world.clock.sleep(50);
    if (what === 'filesystem /broken') throw new Error('input/output error');
  };
  const answer = world.stats().summary({ onlyCpuAndMemory: false }, signal);
  await world.clock.advance(400);
  await answer;
  assert.deepEqual(world.measured, [
    ['statfs', 0],
    ['du', 0.05],
  ]);
});
