import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Heartbeats } from '../../base/heartbeats.ts';
import { TubeletError } from '../../base/errors.ts';
import { sandboxId } from '../../base/ids.ts';
import { createFakeCri } from '../../testing/fake-cri/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import {
  anInstance,
  aPod,
  aSandbox,
  exited,
  observedPod,
  runContainer,
  runSandbox,
  testImage,
} from '../../testing/pods.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { ContainerGc } from './container-gc.ts';
import type { GcPod } from './ports.ts';

const never = new AbortController().signal;

/** Pods as observed, and a record of what is done about them. */
class World {
  readonly clock = new FakeClock({ wall: 1_000_000 });
  readonly log = new MemoryLog();
  readonly done: string[] = [];
  readonly failures: string[] = [];
  pods: GcPod[] = [];
  during: (operation: string) => void | Promise<void> = () => {};
  readonly gc = new ContainerGc({
    heartbeats: new Heartbeats(),
    clock: this.clock,
    random: seededRandom(1),
    log: this.log,
    policy: { minAgeMs: 0, maxPerContainer: 1, maxTotal: -1 },
    pods: { existing: () => this.pods, inspect: async (uid) => this.do(`inspect ${uid}`) },
    runtime: {
      removeContainer: async ({ containerId }) => this.do(`remove ${containerId}`),
      removePodSandbox: async ({ podSandboxId }) => this.do(`sandbox ${podSandboxId}`),
    },
    logs: { remove: async (path) => this.do(`log ${path}`) },
    onFailed: (message) => void this.failures.push(message),
  });

  async do(operation: string): Promise<void> {
    this.done.push(operation);
    await this.during(operation);
  }

  /** A pod with two dead instances, each in a dead sandbox of its own. */
  add(uid: string): void {
    const containers = [1, 0].map((attempt) =>
      anInstance('main', {
        ...exited(1),
        id: `${uid}-${attempt}`,
        attempt,
        createdAt: 2_000 + attempt,
        logPath: `/logs/${uid}/${attempt}.log`,
        sandboxId: sandboxId(`${uid}-s${attempt}`),
      }),
    );
    const sandboxes = [1, 0].map((attempt) => aSandbox(`${uid}-s${attempt}`, { attempt, state: 'notReady' }));
    this.pods.push({ observed: observedPod(sandboxes, containers, uid), contentRemovable: false });
  }
}

describe('container gc', () => {
  test('removes log, container and sandbox in this order, and inspects the pod', async () => {
    const world = new World();
    world.add('a');
    await world.gc.collect(never);
    assert.deepEqual(world.done, ['log /logs/a/0.log', 'remove a-0', 'sandbox a-s0', 'inspect a']);
  });

  test('does nothing about a pod that is tidy', async () => {
    const world = new World();
    world.pods.push({ observed: observedPod([aSandbox('s0')], [anInstance('main')]), contentRemovable: false });
    await world.gc.collect(never);
    assert.deepEqual(world.done, []);
  });

  test('ignores what is not found', async () => {
    const world = new World();
    world.add('a');
    world.during = (operation) => {
      if (/remove|sandbox/.test(operation)) throw new TubeletError('notFound', 'no such thing');
    };
    await world.gc.collect(never);
    assert.deepEqual(world.failures, []);
    assert.ok(world.done.includes('sandbox a-s0'));
  });

  test('removes all dead ones by the policy of the caller', async () => {
    const world = new World();
    world.add('a');
    await world.gc.collect(never, { minAgeMs: 0, maxPerContainer: 0, maxTotal: -1 });
    assert.deepEqual(
      world.done.filter((operation) => operation.startsWith('remove')),
      ['remove a-0', 'remove a-1'],
    );
  });

  test('that fails leaves the sandbox, reports it once, and holds up no other', async () => {
    const world = new World();
    world.add('a');
    world.add('b');
    world.during = (operation) => {
      if (operation === 'remove a-0') throw new TubeletError('unavailable', 'device is busy');
    };
    await world.gc.collect(never);
    await world.gc.collect(never);
    assert.ok(!world.done.includes('sandbox a-s0'));
    assert.ok(world.done.includes('sandbox b-s0'));
    assert.deepEqual(world.failures, ['device is busy']);
    assert.deepEqual(world.log.messages('error'), ['Cannot remove dead containers, will try again']);
    world.during = () => {};
    await world.gc.collect(never);
    assert.ok(world.done.includes('sandbox a-s0'));
  });

  test('runs at the start, every minute, and when it is woken', async () => {
    const world = new World();
    world.add('a');
    const rounds = (): number => world.done.filter((operation) => operation.startsWith('inspect')).length;
    await world.gc.start();
    await world.clock.settle();
    assert.equal(rounds(), 1);
    await world.clock.advance(59_000);
    assert.equal(rounds(), 1);
    await world.clock.advance(61_000);
    assert.equal(rounds(), 3);
    world.gc.wake();
    await world.clock.settle();
    assert.equal(rounds(), 4);
    await world.gc.stop();
    assert.equal(world.clock.pending(), 0);
  });

  test('stops in the middle of a removal that hangs', async () => {
    const world = new World();
    world.add('a');
    const cri = createFakeCri({ clock: world.clock });
    cri.faults.hang('removeContainer');
    const gc = new ContainerGc({
      heartbeats: new Heartbeats(),
      clock: world.clock,
      random: seededRandom(1),
      log: world.log,
      policy: { minAgeMs: 0, maxPerContainer: 1, maxTotal: -1 },
      pods: { existing: () => world.pods, inspect: async () => {} },
      runtime: cri,
      logs: { remove: async () => {} },
      onFailed: (message) => void world.failures.push(message),
    });
    await gc.start();
    await world.clock.settle();
    await gc.stop();
    assert.deepEqual([world.clock.pending(), world.failures, world.log.messages('error')], [0, [], []]);
  });
});

test('in a runtime the dead go and what runs goes on', async () => {
  const clock = new FakeClock();
  const cri = createFakeCri({ clock });
  cri.images.add(testImage);
  const pod = aPod();
  const sandbox = await runSandbox(cri, pod);
  const ids: string[] = [];
  for (let attempt = 0; attempt < 3; attempt++) {
    ids.push(await runContainer(cri, pod, sandbox, 'main', attempt));
    if (attempt < 2) cri.killContainer(ids[attempt] ?? '');
  }
  const containers = ids
    .toReversed()
    .map((id, index) =>
      anInstance('main', { id, attempt: 2 - index, sandboxId: sandboxId(sandbox), ...(index > 0 && exited(137)) }),
    );
  const gc = new ContainerGc({
    heartbeats: new Heartbeats(),
    clock,
    random: seededRandom(1),
    log: new MemoryLog(),
    policy: { minAgeMs: 0, maxPerContainer: 1, maxTotal: -1 },
    pods: {
      existing: () => [{ observed: observedPod([aSandbox(sandbox)], containers), contentRemovable: false }],
      inspect: async () => {},
    },
    runtime: cri,
    logs: { remove: async () => {} },
    onFailed: (message) => assert.fail(message),
  });
  await gc.collect(never);
  assert.deepEqual([...cri.state.containers.keys()].toSorted(), ids.slice(1).toSorted());
});
