import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CgroupUsage } from '../model/usage.ts';
import { plain } from '../testing/fake-api-server/json.ts';
import { anInstance, aPod, aSandbox, observedPod } from '../testing/pods.ts';
import { StatsWorld, testLayout } from '../testing/stats-world.ts';
import { diskActivity } from '../testing/usage-snapshots.ts';

const { signal } = new AbortController();
const whole = { onlyCpuAndMemory: false };
const small = { onlyCpuAndMemory: true };
const podCgroup = '/kubepods/besteffort/podu1';

/** A node with one pod of one container. */
function setUp(): StatsWorld {
  const world = new StatsWorld();
  const pod = aPod({ uid: 'u1', name: 'web' });
  const createdAt = world.clock.now() - 10_000;
  const seen = observedPod([aSandbox('s1', { createdAt })], [anInstance('main', { id: 'c1', createdAt })], 'u1');
  world.pods = [{ pod, startTime: '2026-11-15T07:59:00Z', seen }];
  world.cgroups.set('/', { cpuNs: 1e12, memory: 400_000, inactiveFile: 100_000 });
  world.cgroups.set('/kubepods', { cpuNs: 1e10, memory: 50_000, limit: 900_000 });
  world.cgroups.set(podCgroup, { cpuNs: 5e9, memory: 30_000 });
  world.cgroups.set(`${podCgroup}/c1`, { cpuNs: 4e9, memory: 20_000, limit: 64_000, pids: [11, 12] });
  world.cgroups.set(`${podCgroup}/s1`, { pids: [10] });
  return world;
}

/** Asks, and lets the time go on that the first asking needs. */
async function ask<T>(world: StatsWorld, question: () => Promise<T>): Promise<T> {
  const answer = question();
  await world.clock.advance(200);
  return answer;
}

describe('how busy', () => {
  test('the first request waits for a second reading', async () => {
    const world = setUp();
    const stats = world.stats();
    const answer = stats.summary(small, signal);
    await world.clock.settle();
    world.cgroups.set(`${podCgroup}/c1`, { cpuNs: 4e9 + 1e8, memory: 20_000 });
    await world.clock.advance(200);
    const { pods } = await answer;
    assert.equal(pods[0]?.containers[0]?.cpu?.usageNanoCores, 500_000_000);
    assert.equal(pods[0]?.containers[0]?.cpu?.usageCoreNanoSeconds, 4_100_000_000);
  });

  test('later requests do not wait, and the time in between counts', async () => {
    const world = setUp();
    const stats = world.stats();
    await ask(world, () => stats.summary(small, signal));
    await world.clock.advance(10_000);
    world.cgroups.set('/', { cpuNs: 1e12 + 2e10, memory: 400_000 });
    const { node } = await stats.summary(small, signal);
    assert.equal(node.cpu?.usageNanoCores, 2e9);
  });

  test('a container that came in between has been busy since it came', async () => {
    const world = setUp();
    const stats = world.stats();
    await ask(world, () => stats.summary(small, signal));
    await world.clock.advance(10_000);
    const [first] = world.pods;
    assert.ok(first);
    const newer = anInstance('main', { id: 'c2', createdAt: world.clock.now() - 4_000 });
    world.pods = [{ ...first, seen: { ...first.seen, containers: [newer] } }];
    world.cgroups.set(`${podCgroup}/c2`, { cpuNs: 1e9 });
    const { pods } = await stats.summary(small, signal);
    assert.equal(pods[0]?.containers[0]?.cpu?.usageNanoCores, 250_000_000);
  });

  test('who asks once in a while waits again', async () => {
    const world = setUp();
    const stats = world.stats();
    await ask(world, () => stats.summary(small, signal));
    await world.clock.advance(121_000);
    const answer = stats.summary(small, signal);
    await world.clock.settle();
    assert.equal(world.clock.pending(), 1);
    await world.clock.advance(200);
    await answer;
  });
});

describe('what a page costs', () => {
  test('nothing is read without a request', async () => {
    const world = setUp();
    const stats = world.stats();
    await stats.start();
    await world.clock.advance(600_000);
    assert.deepEqual(world.asked, []);
    await ask(world, () => stats.summary(whole, signal));
    const { length } = world.asked;
    await world.clock.advance(600_000);
    assert.equal(world.asked.length, length);
  });

  test('requests within a second share one reading, whatever page they ask for', async () => {
    const world = setUp();
    const stats = world.stats();
    await ask(world, () =>
      Promise.all([
        stats.summary(small, signal),
        stats.summary(small, signal),
        stats.summary(whole, signal),
        stats.snapshot(signal, 'core'),
      ]),
    );
    assert.equal(world.count(`core ${podCgroup}/c1`), 2);
    await world.clock.advance(1_000);
    await stats.summary(small, signal);
    assert.equal(world.count(`core ${podCgroup}/c1`), 3);
  });

  test('the runtime is asked every thirty seconds at most, and not at all for CPU and memory', async () => {
    const world = setUp();
    const stats = world.stats();
    await ask(world, () => stats.summary(small, signal));
    assert.equal(world.count('listContainerStats'), 0);
    for (let second = 0; second < 60; second++) {
      await world.clock.advance(1_000);
      await stats.summary(whole, signal);
    }
    assert.equal(world.count('listContainerStats'), 2);
    assert.equal(world.count('imageFsInfo'), 2);
  });

  test('disks are measured once in their period, or a little later', async () => {
    const world = setUp();
    world.volumes.set('u1', [{ name: 'v', path: '/vol', kind: 'ephemeral' }]);
    const stats = world.stats();
    await ask(world, () => stats.summary(whole, signal));
    for (let second = 0; second < 59; second++) {
      await world.clock.advance(1_000);
      await stats.summary(whole, signal);
    }
    assert.equal(world.count('tree /vol'), 1);
    assert.equal(world.count('folders /var/log/pods'), 1);
    await world.clock.advance(61_000);
    await stats.summary(whole, signal);
    assert.equal(world.count('tree /vol'), 2);
  });

  test('with a period of zero volumes are not measured', async () => {
    const world = setUp();
    world.volumes.set('u1', [{ name: 'v', path: '/vol', kind: 'ephemeral' }]);
    const { pods } = await ask(world, () => world.stats({ volumePeriodMs: 0 }).summary(whole, signal));
    assert.equal(world.count('tree /vol'), 0);
    assert.equal(pods[0]?.volume, undefined);
  });
});

describe('what goes wrong', () => {
  test('a runtime or a disk that hangs holds a page up once, and the page shows the rest', async () => {
    const world = setUp();
    world.volumes.set('u1', [{ name: 'v', path: '/vol', kind: 'persistent' }]);
    world.before = (what) =>
      /^(listContainerStats|filesystem \/vol)/.test(what) ? new Promise(() => {}) : Promise.resolve();
    const stats = world.stats();
    const answer = stats.summary(whole, signal);
    await world.clock.advance(2_200);
    const { node, pods } = await answer;
    assert.deepEqual(plain(node.runtime), {});
    assert.equal(pods[0]?.volume, undefined);
    assert.ok(pods[0]?.['ephemeral-storage']);
    await world.clock.advance(10_000);
    await stats.summary(whole, signal);
    await stats.stop();
    assert.equal(world.clock.pending(), 0);
  });

  test('a runtime that is slow holds a page of values up for a moment only, where it has answered before', async () => {
    const world = setUp();
    const stats = world.stats();
    const waited = async (): Promise<number> => {
      const began = world.clock.monotonic();
      const answer = stats.snapshot(signal).then(() => world.clock.monotonic() - began);
      await world.clock.advance(31_000);
      return answer;
    };
    const hang = async (what: string): Promise<void> => {
      if (what === 'listContainerStats') await world.clock.sleep(5_000);
    };
    world.before = hang;
    assert.equal(await waited(), 2_000);
    world.before = async () => {};
    await waited();
    world.before = hang;
    assert.equal(await waited(), 500);
  });

  test('a runtime that fails is reported once per try', async () => {
    const world = setUp();
    world.before = async (what) => {
      if (what === 'imageFsInfo') throw new Error('no such call');
    };
    const { pods } = await ask(world, () => world.stats().summary(whole, signal));
    assert.equal(pods[0]?.containers[0]?.rootfs, undefined);
    assert.equal(world.log.entries.filter(({ severity }) => severity === 'error').length, 1);
  });

  test('a cgroup that cannot be read is left out and reported', async () => {
    const world = setUp();
    const deps = world.deps();
    const read = (path: string, depth: 'core' | 'everything'): CgroupUsage | undefined => {
      if (path.endsWith('/c1')) throw new Error('input/output error');
      return deps.cgroups.read(path, depth);
    };
    const stats = world.stats({}, { cgroups: { ...deps.cgroups, read } });
    const { pods } = await ask(world, () => stats.summary(small, signal));
    assert.equal(pods[0]?.containers.length, 0);
    assert.ok(pods[0]?.cpu);
    assert.match(world.log.entries[0]?.message ?? '', /Cannot read the usage of a cgroup/);
  });

  test('a container whose cgroup was removed is no part of any page', async () => {
    const world = setUp();
    world.cgroups.delete(`${podCgroup}/c1`);
    const stats = world.stats();
    const { pods } = await ask(world, () => stats.summary(whole, signal));
    assert.deepEqual(pods[0]?.containers, []);
    assert.equal(pods[0]?.process_stats, undefined);
  });

  test('an aborted request ends its waiting', async () => {
    const world = setUp();
    const asker = new AbortController();
    const answer = world.stats().summary(whole, asker.signal);
    asker.abort(new Error('connection closed'));
    await assert.rejects(answer, /connection closed/);
  });

  test('after the end no request is answered', async () => {
    const world = setUp();
    const stats = world.stats();
    await stats.stop();
    assert.deepEqual(world.asked, ['close']);
    await assert.rejects(stats.summary(small, signal), { name: 'AbortError' });
  });
});

describe('networks', () => {
  const eth0 = {
    name: 'eth0',
    rxBytes: 1,
    rxPackets: 1,
    rxErrors: 0,
    rxDropped: 0,
    txBytes: 2,
    txPackets: 1,
    txErrors: 0,
    txDropped: 0,
  };
  const shown = { name: 'eth0', rxBytes: 1, rxErrors: 0, txBytes: 2, txErrors: 0 };

  test('of a pod as its sandbox sees it, of the node as the agent does', async () => {
    const world = setUp();
    world.networks.set(10, [eth0]).set('self', [{ ...eth0, name: 'ens3' }]);
    const { node, pods } = await ask(world, () => world.stats().summary(whole, signal));
    assert.deepEqual(pods[0]?.network, { time: pods[0]?.network?.time, ...shown, interfaces: [shown] });
    assert.equal(node.network?.name, undefined);
    assert.equal(node.network?.interfaces?.[0]?.name, 'ens3');
  });

  test('of a pod whose sandbox has no process as a container sees it', async () => {
    const world = setUp();
    world.cgroups.delete(`${podCgroup}/s1`);
    world.networks.set(11, [eth0]);
    const { pods } = await ask(world, () => world.stats().summary(whole, signal));
    assert.equal(pods[0]?.network?.rxBytes, 1);
  });

  test('a pod on the node’s network has none', async () => {
    const world = setUp();
    const [first] = world.pods;
    assert.ok(first);
    world.pods = [{ ...first, pod: aPod({ uid: 'u1', spec: { hostNetwork: true } }) }];
    world.networks.set(10, [eth0]);
    const { pods } = await ask(world, () => world.stats().summary(whole, signal));
    assert.equal(pods[0]?.network, undefined);
  });
});

describe('snapshots', () => {
  test('everything, with owners', async () => {
    const world = setUp();
    for (const tier of ['burstable', 'besteffort']) world.cgroups.set(`/kubepods/${tier}`, {});
    const stats = world.stats();
    const { cgroups } = await stats.snapshot(signal);
    assert.deepEqual(
      cgroups.map(({ usage, owner }) => [usage.path, owner && `${owner.namespace}/${owner.pod}/${owner.container}`]),
      [
        ['/', undefined],
        ['/kubepods', undefined],
        ['/kubepods/burstable', undefined],
        ['/kubepods/besteffort', undefined],
        [podCgroup, 'default/web/'],
        [`${podCgroup}/s1`, 'default/web/POD'],
        [`${podCgroup}/c1`, 'default/web/main'],
      ],
    );
    assert.equal(cgroups[0]?.filesystems[0]?.device, '/dev/sda1');
    assert.deepEqual(cgroups[0]?.filesystems[0]?.disk, diskActivity);
    assert.ok(cgroups.slice(1).every(({ filesystems }) => filesystems.every(({ disk }) => disk === undefined)));
    assert.equal(cgroups.at(-1)?.usage.createdAt, world.clock.now() - 10_000);
    assert.equal(world.count('begin'), 1);
    await stats.stop();
    assert.equal(world.clock.pending(), 0);
  });

  test('the core, from the reading of the summary', async () => {
    const world = setUp();
    const stats = world.stats();
    const { cgroups } = await ask(world, () => stats.snapshot(signal, 'core'));
    assert.deepEqual(
      cgroups.map(({ usage }) => usage.path),
      ['/', '/kubepods', podCgroup, `${podCgroup}/c1`],
    );
    assert.equal(world.count('everything'), 0);
  });
});

test('without cgroups of pods a pod uses what its containers use', async () => {
  const world = setUp();
  const [first] = world.pods;
  assert.ok(first);
  const containers = [anInstance('a', { id: 'a1' }), anInstance('b', { id: 'b1' })];
  world.pods = [{ ...first, seen: { ...first.seen, containers } }];
  world.cgroups.set('/k8s.io/a1', { cpuNs: 1e9, memory: 100, limit: 1_000 });
  world.cgroups.set('/k8s.io/b1', { cpuNs: 2e9, memory: 300 });
  const cgroupLayout = { ...testLayout, cgroupsPerQos: false };
  const { node, pods } = await ask(world, () => world.stats({ cgroupLayout }).summary(small, signal));
  assert.equal(pods[0]?.cpu?.usageCoreNanoSeconds, 3e9);
  assert.equal(pods[0]?.memory?.workingSetBytes, 400);
  assert.equal(pods[0]?.memory?.availableBytes, undefined);
  assert.equal(node.systemContainers, undefined);
});
