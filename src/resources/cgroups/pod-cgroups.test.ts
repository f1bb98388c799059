import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Heartbeats } from '../../base/heartbeats.ts';
import { podUid } from '../../base/ids.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { Registry } from '../../telemetry/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryCgroupTree } from '../../testing/memory-cgroup-tree.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { aContainer, aPod } from '../../testing/pods.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { CgroupWriter } from './cgroup-writer.ts';
import { CgroupfsManager } from './cgroupfs-manager.ts';
import { MeasuredManager } from './measured-manager.ts';
import { PodCgroups } from './pod-cgroups.ts';

const small = { cpu: '500m', memory: '64Mi' };
const guaranteed = aPod({
  uid: 'g',
  spec: { containers: [aContainer('main', { resources: { requests: small, limits: small } })] },
});
const burstable = aPod({
  uid: 'b',
  spec: { containers: [aContainer('main', { resources: { requests: { cpu: '250m' } } })] },
});
const bestEffort = aPod({ uid: 'e' });
const pathOf = new Map<DesiredPod, string>([
  [guaranteed, '/kubepods/podg'],
  [burstable, '/kubepods/burstable/podb'],
  [bestEffort, '/kubepods/besteffort/pode'],
]);

function setUp() {
  const clock = new FakeClock();
  const tree = new MemoryCgroupTree();
  const log = new MemoryLog();
  const metrics = new Registry();
  const steps: string[] = [];
  const step = (name: string) => async (): Promise<void> => void steps.push(name);
  const world = { tierTrouble: undefined as Error | undefined, traces: new Map<string, 'onDisk' | 'none'>() };
  const controllers = new Set(['cpu', 'memory', 'pids']);
  const cgroups = new PodCgroups({
    heartbeats: new Heartbeats(),
    clock,
    random: seededRandom(1),
    log,
    manager: new MeasuredManager({
      clock,
      metrics,
      manager: new CgroupfsManager({ tree, writer: new CgroupWriter({ log, tree, version: 1, controllers }) }),
    }),
    node: {
      check: () => void steps.push('check'),
      make: step('make node'),
      enforce: step('enforce'),
      enforceReserved: step('enforce reserved'),
    },
    tiers: {
      make: step('make tiers'),
      update: async () => {
        steps.push('tiers');
        if (world.tierTrouble) throw world.tierTrouble;
      },
    },
    pods: {
      active: () => [],
      complete: () => true,
      trace: async (uid) => world.traces.get(uid) ?? 'known',
    },
    settings: { cpuCfsQuota: true, cpuPeriodUs: 100_000n, podPidsLimit: 50, memoryQos: false, hugePageSizes: [] },
    hasExclusiveCpus: () => false,
    cgroupRoot: '/',
  });
  return { clock, tree, log, metrics, steps, world, cgroups };
}

describe('making', () => {
  test('each class in its place, with its values, the tier before the pod', async () => {
    const { cgroups, tree, steps } = setUp();
    for (const [pod, path] of pathOf) {
      assert.equal(cgroups.exist(pod), false);
      await cgroups.ensure(pod);
      assert.equal(cgroups.exist(pod), true);
      assert.ok(tree.groups.has(path), path);
    }
    assert.equal(
      tree.values('/kubepods/podg'),
      'cpu.shares=512 cpu.cfs_period_us=100000 cpu.cfs_quota_us=50000 memory.limit_in_bytes=67108864 pids.max=50',
    );
    assert.equal(tree.values('/kubepods/burstable/podb'), 'cpu.shares=256 pids.max=50');
    assert.equal(tree.values('/kubepods/besteffort/pode'), 'cpu.shares=2 pids.max=50');
    assert.deepEqual(steps, ['tiers', 'tiers', 'tiers']);
  });

  test('nothing is written again, until the cgroup is removed', async () => {
    const { cgroups, tree } = setUp();
    await cgroups.ensure(guaranteed);
    const before = tree.writes;
    await cgroups.ensure(guaranteed);
    assert.equal(tree.writes, before);
    tree.groups.delete('/kubepods/podg');
    await cgroups.ensure(guaranteed);
    assert.match(tree.values('/kubepods/podg') ?? '', /pids\.max=50/);
  });

  test('one that was there gets its values once per process', async () => {
    const { cgroups, tree } = setUp();
    tree.make('/kubepods/podg');
    await cgroups.ensure(guaranteed);
    assert.match(tree.values('/kubepods/podg') ?? '', /cpu\.shares=512/);
  });

  test('values that a new cgroup does not take keep the pod from starting, also at the next try', async () => {
    const { cgroups, tree } = setUp();
    tree.refuse = () => 'no';
    await assert.rejects(cgroups.ensure(guaranteed), /no/);
    await assert.rejects(cgroups.ensure(guaranteed), /no/);
    tree.refuse = () => undefined;
    await cgroups.ensure(guaranteed);
    assert.match(tree.values('/kubepods/podg') ?? '', /pids\.max=50/);
  });

  test('values that the cgroup of a running pod does not take are logged, and it runs on', async () => {
    const { cgroups, tree, log } = setUp();
    tree.make('/kubepods/podg');
    tree.refuse = () => 'no';
    await cgroups.ensure(guaranteed);
    await cgroups.ensure(guaranteed);
    assert.deepEqual(log.messages('error'), ['Cannot bring the cgroup of a pod up to date']);
  });

  test('tiers that cannot be updated keep no pod from starting', async () => {
    const { cgroups, tree, world, log } = setUp();
    world.tierTrouble = new Error('busy');
    await cgroups.ensure(burstable);
    assert.ok(tree.groups.has('/kubepods/burstable/podb'));
    assert.deepEqual(log.messages('warn'), ['Failed to update QoS cgroup configuration']);
  });

  test('a pod that is resized gets new values', async () => {
    const { cgroups, tree } = setUp();
    await cgroups.ensure(burstable);
    const more = aContainer('main', { resources: { requests: { cpu: '1' } } });
    await cgroups.update({ ...burstable, spec: { ...burstable.spec, containers: [more] } });
    assert.equal(tree.read('/kubepods/burstable/podb', 'cpu', 'cpu.shares'), '1024');
  });
});

describe('removing', () => {
  test('in any tier, with what still runs in it, and the tier is updated', async () => {
    const { cgroups, tree, steps, log } = setUp();
    await cgroups.ensure(bestEffort);
    tree.make('/kubepods/besteffort/pode/container');
    tree.processes.set('/kubepods/besteffort/pode/container', [41, 42]);
    steps.length = 0;
    await cgroups.remove(bestEffort.uid);
    assert.deepEqual([...tree.groups.keys()], ['/', '/kubepods', '/kubepods/besteffort']);
    assert.deepEqual(log.messages('info'), ['Killed what was left in the cgroup of a pod']);
    assert.deepEqual(steps, ['tiers']);
    await cgroups.remove(bestEffort.uid);
  });

  test('a process that cannot be killed keeps it', async () => {
    const { cgroups, tree } = setUp();
    await cgroups.ensure(guaranteed);
    tree.processes.set('/kubepods/podg', [7]);
    tree.immortal.add(7);
    await assert.rejects(cgroups.remove(guaranteed.uid), { kind: 'conflict', message: /still in \/kubepods\/podg/ });
  });

  test('a pod that comes back waits until its old cgroup is removed', async () => {
    const { cgroups, tree } = setUp();
    await cgroups.ensure(guaranteed);
    let goOn = (): void => {};
    tree.removing = new Promise((resolve) => (goOn = resolve));
    const removal = cgroups.remove(guaranteed.uid);
    const again = cgroups.ensure(guaranteed);
    goOn();
    await Promise.all([removal, again]);
    assert.match(tree.values('/kubepods/podg') ?? '', /pids\.max=50/);
  });
});

describe('the life of the component', () => {
  test('everything is in place when it has started; limits and tiers are updated every minute', async () => {
    const { cgroups, clock, steps } = setUp();
    await cgroups.start();
    assert.deepEqual(steps.splice(0), ['check', 'make node', 'make tiers', 'enforce', 'enforce reserved']);
    await clock.advance(59_999);
    assert.deepEqual(steps, []);
    await clock.advance(1);
    assert.deepEqual(steps, ['enforce', 'tiers']);
    await cgroups.stop();
    assert.equal(clock.pending(), 0);
  });

  test('cgroups of unknown pods are removed; those of known pods stay', async () => {
    const { cgroups, clock, tree, world, log } = setUp();
    for (const path of ['/kubepods/podlost', '/kubepods/burstable/podstuck', '/kubepods/besteffort/podkept']) {
      tree.make(path);
    }
    tree.make('/kubepods/burstable/other');
    await cgroups.ensure(guaranteed);
    for (const uid of ['lost', 'stuck', guaranteed.uid]) world.traces.set(uid, 'none');
    tree.processes.set('/kubepods/burstable/podstuck', [7]);
    tree.immortal.add(7);
    await cgroups.start();
    await clock.advance(60_000);
    assert.deepEqual(
      [...tree.groups.keys()].filter((path) => /\/pod[a-z]+$/.test(path)),
      ['/kubepods/burstable/podstuck', '/kubepods/besteffort/podkept', '/kubepods/podg'],
    );
    assert.ok(tree.groups.has('/kubepods/burstable/other'));
    assert.deepEqual(log.messages('error'), ['Cannot remove orphaned cgroup of a pod, will try again']);
    await cgroups.stop();
  });

  test('an unknown pod that still has something on disk keeps its cgroup with the minimum of CPU', async () => {
    const { cgroups, clock, tree, world, log } = setUp();
    await cgroups.ensure(burstable);
    tree.make('/kubepods/burstable/podlost');
    world.traces.set('lost', 'onDisk');
    await cgroups.start();
    await clock.advance(60_000);
    assert.equal(tree.values('/kubepods/burstable/podlost'), 'cpu.shares=2');
    assert.match(tree.values('/kubepods/burstable/podb') ?? '', /^cpu\.shares=256 /);
    const message = 'Orphaned pod found, but volumes not yet removed.  Reducing cpu to minimum';
    assert.deepEqual(log.messages('info'), [message]);
    world.traces.set('lost', 'none');
    await clock.advance(60_000);
    assert.ok(!tree.groups.has('/kubepods/burstable/podlost'));
    await cgroups.stop();
  });

  test('operations are measured', async () => {
    const { cgroups, metrics } = setUp();
    await cgroups.ensure(guaranteed);
    await cgroups.update(guaranteed);
    await cgroups.remove(podUid('g'));
    const lines = metrics.render().split('\n');
    const count = (operation: string): string | undefined =>
      lines.find((line) => line.includes('_count') && line.includes(operation))?.split(' ')[1];
    assert.deepEqual([count('create'), count('update'), count('destroy')], ['1', '1', '3']);
  });
});

test('what is known of a pod is forgotten with it, and a removal under way is counted until it ends', async () => {
  const { cgroups, tree } = setUp();
  await cgroups.start();
  await cgroups.ensure(guaranteed);
  await cgroups.ensure(bestEffort);
  assert.equal(cgroups.size(), 2);
  cgroups.forget(bestEffort.uid);
  cgroups.forget(podUid('never-seen'));
  assert.equal(cgroups.size(), 1);
  let release = (): void => {};
  tree.removing = new Promise((resolve) => (release = resolve));
  const removal = cgroups.remove(guaranteed.uid);
  assert.equal(cgroups.removalsUnderWay(), 1);
  release();
  await removal;
  await Promise.resolve();
  assert.deepEqual([cgroups.size(), cgroups.removalsUnderWay()], [0, 0]);
  await cgroups.stop();
});
