import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Heartbeats } from '../base/heartbeats.ts';
import { podUid, type PodUid } from '../base/ids.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import type { PodStorageUsage } from '../model/usage.ts';
import { Registry } from '../telemetry/index.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryDecisions } from '../testing/memory-decisions.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { aContainer, aPod } from '../testing/pods.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { LocalStorageEviction } from './local-storage-eviction.ts';

const emptyDir = { sizeLimit: '1k' };

const aLimited = (uid: string, more: Parameters<typeof aPod>[0] = {}): DesiredPod =>
  aPod({ uid, name: uid, source: 'api', spec: { volumes: [{ name: 'v', emptyDir }] }, ...more });

class World {
  readonly clock = new FakeClock();
  readonly log = new MemoryLog();
  readonly decisions = new MemoryDecisions();
  readonly registry = new Registry();
  readonly done: string[] = [];
  readonly asked: string[] = [];
  readonly used = new Map<string, number>();
  pods: readonly DesiredPod[] = [];
  /** Runs while pods are measured. */
  during: () => void | Promise<void> = () => {};
  readonly eviction = new LocalStorageEviction({
    heartbeats: new Heartbeats(),
    clock: this.clock,
    random: seededRandom(1),
    log: this.log,
    decisions: this.decisions,
    pods: { activePods: () => this.pods },
    workers: {
      terminate: (uid, { graceSeconds, decided }) => {
        this.done.push(`terminate ${uid} ${graceSeconds} ${decided.reason}: ${decided.message}`);
        this.pods = this.pods.filter((pod) => pod.uid !== uid);
      },
    },
    meter: {
      storage: async (scopes) => {
        this.asked.push([...scopes].map(([uid, what]) => `${uid} ${what}`).join(', '));
        await this.during();
        return new Map<PodUid, PodStorageUsage>(
          [...scopes.keys()].flatMap((uid) => {
            const used = this.used.get(uid);
            return used === undefined ? [] : [[uid, { volumes: new Map([['v', used]]), containers: new Map() }]];
          }),
        );
      },
    },
    events: {
      record: ({ name }, { type, reason, message }) => void this.done.push(`${type} ${name} ${reason}: ${message}`),
    },
    metrics: this.registry,
  });

  /** Starts, and lets so many rounds go by. */
  async rounds(count = 1): Promise<void> {
    await this.clock.advance(10_000 * count);
  }
}

async function started(...pods: readonly DesiredPod[]): Promise<World> {
  const world = new World();
  world.pods = pods;
  await world.eviction.start();
  return world;
}

describe('a pod that exceeds a limit', () => {
  test('is evicted within ten seconds, with an event and in the metric', async () => {
    const world = await started(aLimited('big'), aLimited('small'), aLimited('unknown'));
    world.used.set('big', 1_001).set('small', 1_000);
    await world.rounds();
    const message = 'Usage of EmptyDir volume "v" exceeds the limit "1k". ';
    assert.deepEqual(world.done, [`Warning big Evicted: ${message}`, `terminate big 1 Evicted: ${message}`]);
    assert.match(world.registry.render(), /^kubelet_evictions\{eviction_signal="emptydirfs.limit"\} 1$/m);
    const [ofPod, ofNode] = world.decisions.entries;
    const inputs = { signal: 'emptydirfs.limit', usedBytes: 1_001, limit: '1k' };
    assert.deepEqual(ofPod?.decision.inputs, inputs);
    assert.deepEqual(ofNode?.decision.inputs, { pod: 'default/big', podUID: 'big', ...inputs });
    assert.deepEqual(world.decisions.take(), [`big evict Evicted: ${message}`, `node evict Evicted: ${message}`]);
    await world.rounds(3);
    assert.equal(world.done.length, 2);
    await world.eviction.stop();
  });

  test('is not evicted when it ended during the measurement', async () => {
    const world = await started(aLimited('big'));
    world.used.set('big', 2_000);
    world.during = () => void (world.pods = []);
    await world.rounds();
    assert.deepEqual(world.done, []);
    await world.eviction.stop();
  });

  test('is not evicted when it is critical; that is reported once, and again when it exceeds the limit anew', async () => {
    const world = await started(aLimited('static', { source: 'file' }));
    world.used.set('static', 2_000);
    await world.rounds(5);
    assert.deepEqual(world.done, []);
    const said = (): number => world.log.messages('warn').length;
    assert.equal(said(), 1);
    const message = 'Usage of EmptyDir volume "v" exceeds the limit "1k". ';
    assert.deepEqual(world.decisions.take(), [`static refuse CriticalPod: ${message}`]);
    world.used.set('static', 10);
    await world.rounds();
    world.used.set('static', 2_000);
    await world.rounds(2);
    assert.equal(said(), 2);
    assert.equal(world.eviction.size(), 1);
    world.eviction.forget(podUid('static'));
    assert.equal(world.eviction.size(), 0);
    await world.eviction.stop();
  });
});

describe('what is measured', () => {
  test('nothing while no pod has a limit', async () => {
    const world = await started(aPod({ source: 'api' }));
    await world.rounds(10);
    assert.deepEqual(world.asked, []);
    await world.eviction.stop();
  });

  test('only pods with limits, and of them only what the limits are about', async () => {
    const limits = { 'ephemeral-storage': '1Gi' };
    const whole = { spec: { containers: [aContainer('main', { resources: { limits } })] } };
    const world = await started(aPod({ uid: 'none', source: 'api' }), aLimited('v'), aLimited('all', whole));
    await world.rounds();
    assert.deepEqual(world.asked, ['v volumes, all everything']);
    await world.eviction.stop();
  });

  test('a pod that comes later too', async () => {
    const world = await started();
    await world.rounds(2);
    world.pods = [aLimited('late')];
    world.used.set('late', 5_000);
    await world.rounds();
    assert.equal(world.done.length, 2);
    await world.eviction.stop();
  });

  test('one round at a time, however long it takes', async () => {
    const world = await started(aLimited('v'));
    world.during = () => world.clock.sleep(35_000);
    await world.rounds(4);
    assert.equal(world.asked.length, 1);
    await world.rounds(2);
    assert.equal(world.asked.length, 2);
    const stopped = world.eviction.stop();
    await world.clock.advance(35_000);
    await stopped;
  });
});

test('a failure to measure ends nothing but the round', async () => {
  const world = await started(aLimited('v'));
  world.during = () => {
    throw new Error('the disk is gone');
  };
  await world.rounds(2);
  assert.ok(world.log.messages('error').length > 0);
  world.during = () => {};
  world.used.set('v', 5_000);
  await world.rounds(2);
  assert.equal(world.done.length, 2);
  await world.eviction.stop();
  assert.equal(world.clock.pending(), 0);
});
