import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodUid } from '../../base/ids.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';
import type { RuntimeOutcome, StatusInput } from '../../model/sync-outcome.ts';
import { MemoryDecisions } from '../../testing/memory-decisions.ts';
import { MemoryEvents } from '../../testing/memory-events.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { anInstance, aPod, aSandbox, exited, observedPod } from '../../testing/pods.ts';
import { PodSync } from './pod-sync.ts';

const pod = aPod();
const never = new AbortController().signal;
const settleTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Everything around the four operations, and a record of the steps they took. */
class World {
  readonly steps: string[] = [];
  readonly events = new MemoryEvents();
  readonly log = new MemoryLog();
  readonly decisions = new MemoryDecisions();
  readonly published: StatusInput[] = [];
  observed: ObservedPod = observedPod([], []);
  phase = 'Running';
  /** Another phase, from the action of the runtime on. */
  phaseAfterAction: string | undefined;
  outcome: RuntimeOutcome = { acted: false };
  statusPending = false;
  /** What the pod names, where it has to be waited for. */
  objects: Promise<void> | undefined;
  /** Which moments the observations had to be newer than. */
  readonly asked: number[] = [];
  /** Rises with every observation and every action. */
  observationSeq = 0;
  /** What goes wrong with a step, by its name. */
  readonly failures = new Map<string, Error>();
  /** What a stop leaves. */
  afterStop: ObservedPod = observedPod([aSandbox('s0', { state: 'notReady' })], [anInstance('main', exited(143))]);

  deadline: { readonly end?: { readonly reason: string; readonly message: string }; readonly inMs?: number } = {};

  cgroupExists = true;

  readonly probed: string[] = [];

  readonly sync = new PodSync({
    log: this.log,
    decisions: this.decisions,
    observed: {
      observationSeq: () => this.observationSeq,
      newerThan: async (_uid, since) => {
        this.asked.push(since);
        await this.#step('observe');
        this.observationSeq++;
        return this.observed;
      },
    },
    runtime: {
      needsSandbox: (_, { sandboxes }) => sandboxes.length === 0,
      sync: async () => {
        this.observationSeq++;
        await this.#step('runtime');
        this.phase = this.phaseAfterAction ?? this.phase;
        return this.outcome;
      },
      stop: async (of, _observed, graceSeconds) => {
        this.observationSeq++;
        await this.#step(`stop ${of?.name ?? 'unknown pod'} within ${graceSeconds}`);
        this.observed = this.afterStop;
      },
    },
    volumes: { mount: () => this.#step('mount'), unmount: () => this.#step('unmount') },
    directories: { prepare: () => this.#step('directories') },
    objects: {
      ready: async () => {
        if (this.objects === undefined) return;
        this.steps.push('objects');
        await this.objects;
      },
    },
    cgroups: {
      exist: () => this.cgroupExists,
      ensure: ({ uid }) => this.#step(`make cgroups ${uid}`),
      remove: (uid: PodUid) => this.#step(`cgroups ${uid}`),
    },
    statuses: {
      publish: (input) => {
        this.steps.push(`publish${input.terminal ? ' the end' : ''}`);
        this.published.push(input);
        return { phase: this.phase };
      },
      statusPending: () => this.statusPending,
      finish: ({ name }) => void this.steps.push(`finish ${name}`),
    },
    events: this.events,
    deadlines: { check: () => this.deadline },
    probes: {
      addPod: ({ uid }) => void this.probed.push(`add ${uid}`),
      stopLivenessAndStartup: (uid) => void this.probed.push(`calm ${uid}`),
      removePod: (uid) => void this.probed.push(`remove ${uid}`),
    },
  });

  async #step(name: string): Promise<void> {
    this.steps.push(name);
    const failure = this.failures.get(name);
    if (failure !== undefined) throw failure;
  }
}

describe('syncPod', () => {
  test('in order: observe, status, cgroups, folders, volumes, observe, runtime; then nothing new to observe', async () => {
    const world = new World();
    assert.deepEqual(await world.sync.syncPod(pod, never), { kind: 'settled' });
    const before = ['observe', 'publish', 'make cgroups uid-1', 'directories', 'mount'];
    assert.deepEqual(world.steps, [...before, 'observe', 'runtime', 'publish']);
    assert.deepEqual(world.asked, [0, 0]);
  });

  test('after an action it observes again, newer than the action, and requeues at once', async () => {
    const world = new World();
    world.outcome = { acted: true };
    assert.deepEqual(await world.sync.syncPod(pod, never), { kind: 'settled', requeueAfterMs: 0 });
    assert.deepEqual(world.steps.slice(-3), ['runtime', 'observe', 'publish']);
    assert.deepEqual(world.asked, [0, 0, 3], 'the observations before were 1 and 2, the action 3');
    await world.sync.syncPod(pod, never);
    assert.deepEqual(world.asked.slice(3), [3, 3, 7], 'the next sync too asks for news since the action');
  });

  test('an action that changed nothing makes no observation out of date', async () => {
    const world = new World();
    world.outcome = { acted: false };
    await world.sync.syncPod(pod, never);
    await world.sync.syncTerminatingPod(pod, { graceSeconds: 1 }, never);
    assert.deepEqual(world.asked.slice(0, 3), [0, 0, 0]);
  });

  test('a start that was refused, an ended pod, and removed instances make observations out of date', async () => {
    for (const some of [{ requeueAfterMs: 10_000 }, { ended: true }, { pruned: true }]) {
      const world = new World();
      world.outcome = { acted: false, ...some };
      await world.sync.syncPod(pod, never);
      world.asked.length = 0;
      await world.sync.syncTerminatingPod(pod, { graceSeconds: 1 }, never);
      assert.equal(world.asked[0], 3, JSON.stringify(some));
    }
  });

  test('objects of the pod are fetched while cgroup and folders are made; volumes wait for both', async () => {
    const world = new World();
    let arrive = (): void => {};
    world.objects = new Promise((resolve) => (arrive = resolve));
    const done = world.sync.syncPod(pod, never);
    await settleTurn();
    assert.deepEqual(world.steps.slice(2), ['objects', 'make cgroups uid-1', 'directories']);
    arrive();
    await done;
    assert.deepEqual(world.steps.slice(5), ['mount', 'observe', 'runtime', 'publish']);
  });

  test('a failure to make cgroup or folders is thrown when the API server has answered', async () => {
    const world = new World();
    world.failures.set('directories', new Error('read-only file system'));
    let arrive = (): void => {};
    world.objects = new Promise((resolve) => (arrive = resolve));
    let failed = false;
    const done = world.sync.syncPod(pod, never).finally(() => (failed = true));
    done.catch(() => {});
    await settleTurn();
    assert.equal(failed, false);
    arrive();
    await assert.rejects(done, /read-only file system/);
    assert.deepEqual(world.decisions.take(), ['uid-1 wait DirectoriesNotReady: read-only file system']);
    assert.equal(world.steps.includes('mount'), false);
  });

  test('a refusal decides when to requeue, acted or not', async () => {
    const world = new World();
    world.outcome = { acted: false, requeueAfterMs: 10_000 };
    assert.deepEqual(await world.sync.syncPod(pod, never), { kind: 'settled', requeueAfterMs: 10_000 });
    world.outcome = { acted: true, requeueAfterMs: 4_000 };
    assert.deepEqual(await world.sync.syncPod(pod, never), { kind: 'settled', requeueAfterMs: 4_000 });
  });

  test('a pending status is reported, so that the worker syncs again in time', async () => {
    const world = new World();
    world.outcome = { acted: false, requeueAfterMs: 40_000 };
    world.statusPending = true;
    assert.deepEqual(await world.sync.syncPod(pod, never), {
      kind: 'settled',
      requeueAfterMs: 40_000,
      statusPending: true,
    });
  });

  test('after the removal of dead instances the pod is observed, but its status is not published again', async () => {
    const world = new World();
    const before = observedPod([aSandbox('s0')], [anInstance('main', exited(1))]);
    world.observed = before;
    world.outcome = { acted: false, pruned: true };
    assert.deepEqual(await world.sync.syncPod(pod, never), { kind: 'settled' });
    assert.deepEqual(world.steps.slice(-3), ['runtime', 'observe', 'publish']);
    assert.equal(world.published.at(-1)?.observed, before);
  });

  test('a pod whose containers have ended is terminated, and nothing is started', async () => {
    for (const phase of ['Succeeded', 'Failed']) {
      const world = new World();
      world.phase = phase;
      assert.deepEqual(await world.sync.syncPod(pod, never), { kind: 'ended' });
      assert.deepEqual(world.steps, ['observe', 'publish']);
    }
  });

  test('an end that the action itself brought about is seen at once', async () => {
    const world = new World();
    world.outcome = { acted: true };
    world.phaseAfterAction = 'Failed';
    assert.deepEqual(await world.sync.syncPod(pod, never), { kind: 'ended' });
  });

  test('volumes that cannot be mounted: nothing starts, and the volumes record the event', async () => {
    const world = new World();
    world.failures.set('mount', new Error('no such secret'));
    await assert.rejects(world.sync.syncPod(pod, never), /no such secret/);
    assert.equal(world.steps.includes('runtime'), false);
    assert.deepEqual(world.events.take(), []);
    assert.deepEqual(world.decisions.take(), ['uid-1 wait VolumesNotReady: no such secret']);
  });

  test('an action that failed half way still makes observations out of date', async () => {
    const world = new World();
    world.failures.set('runtime', new Error('half done'));
    await assert.rejects(world.sync.syncPod(pod, never), /half done/);
    world.failures.clear();
    await world.sync.syncPod(pod, never);
    assert.deepEqual(world.asked, [0, 0, 3, 3]);
  });

  test('a cgroup that cannot be made: an event, and nothing starts', async () => {
    const world = new World();
    world.failures.set('make cgroups uid-1', new Error('no space'));
    await assert.rejects(world.sync.syncPod(pod, never), /no space/);
    assert.deepEqual(world.steps, ['observe', 'publish', 'make cgroups uid-1']);
    const words = 'Warning FailedCreatePodContainer: unable to ensure pod container exists: no space';
    assert.deepEqual(world.events.take(), [words]);
    assert.deepEqual(world.decisions.take(), ['uid-1 wait CgroupNotReady: no space']);
  });

  test('what runs outside of its cgroup is stopped first, with its grace; then it is observed anew', async () => {
    const world = new World();
    world.cgroupExists = false;
    world.observed = observedPod([aSandbox('s0')], [anInstance('main')]);
    assert.deepEqual(await world.sync.syncPod(pod, never), { kind: 'settled', requeueAfterMs: 0 });
    assert.deepEqual(world.steps, ['observe', 'publish', 'stop web within 30']);
    assert.deepEqual(world.decisions.take(), ['uid-1 kill OutsideOfCgroup: it runs outside of its cgroup']);
    await world.sync.syncPod(pod, never);
    assert.deepEqual(world.steps.slice(3, 6), ['observe', 'publish', 'make cgroups uid-1']);
    assert.deepEqual(world.asked.slice(0, 2), [0, 2], 'the second observation is newer than the stop');
  });

  test('says whether the pod still needs a sandbox', async () => {
    const world = new World();
    await world.sync.syncPod(pod, never);
    world.observed = observedPod([aSandbox('s0')], []);
    await world.sync.syncPod(pod, never);
    assert.deepEqual(
      world.published.map(({ needsSandbox }) => needsSandbox),
      [true, true, false, false],
    );
  });
});

describe('syncTerminatingPod', () => {
  test('status, stop, observe, last status', async () => {
    const world = new World();
    await world.sync.syncTerminatingPod(pod, { graceSeconds: 7 }, never);
    assert.deepEqual(world.steps, ['observe', 'publish', 'stop web within 7', 'observe', 'publish the end']);
    assert.deepEqual(world.asked, [0, 2]);
  });

  test('the reason of the decision is in both statuses', async () => {
    const world = new World();
    const decided = { reason: 'Evicted', message: 'The node was low on resource: memory.' };
    await world.sync.syncTerminatingPod(pod, { graceSeconds: 1, decided }, never);
    assert.deepEqual(
      world.published.map((input) => input.decided),
      [decided, decided],
    );
  });

  test('something that still runs after the stop is an error, not an end', async () => {
    const world = new World();
    world.afterStop = observedPod([], [anInstance('main'), anInstance('side', exited(0)), anInstance('web')]);
    await assert.rejects(
      world.sync.syncTerminatingPod(pod, { graceSeconds: 1 }, never),
      /containers are still running after they were stopped: main, web/,
    );
    assert.equal(world.steps.includes('publish the end'), false);
  });
});

describe('syncTerminatingRuntimePod', () => {
  test('stops what only the runtime knows, without a status', async () => {
    const world = new World();
    await world.sync.syncTerminatingRuntimePod({ uid: pod.uid, name: 'web', namespace: 'default' }, 1, never);
    assert.deepEqual(world.steps, ['observe', 'stop unknown pod within 1', 'observe']);
    assert.deepEqual(world.log.messages('info'), ['Killing unwanted pod']);
  });

  test('fails while something runs', async () => {
    const world = new World();
    world.afterStop = observedPod([], [anInstance('main')]);
    await assert.rejects(
      world.sync.syncTerminatingRuntimePod({ uid: pod.uid, name: '', namespace: '' }, 1, never),
      /main/,
    );
  });
});

describe('syncTerminatedPod', () => {
  test('releases volumes, then cgroups, then publishes the last status', async () => {
    const world = new World();
    await world.sync.syncTerminatedPod({ kind: 'desired', pod }, never);
    assert.deepEqual(world.steps, ['unmount', 'cgroups uid-1', 'finish web']);
  });

  test('an orphan has no volumes that we know of, and no status', async () => {
    const world = new World();
    await world.sync.syncTerminatedPod({ kind: 'orphan', uid: pod.uid, name: 'web', namespace: 'default' }, never);
    assert.deepEqual(world.steps, ['cgroups uid-1']);
  });

  test('a volume that stays mounted delays the cgroup and the last status', async () => {
    const world = new World();
    world.failures.set('unmount', new Error('device is busy'));
    await assert.rejects(world.sync.syncTerminatedPod({ kind: 'desired', pod }, never), /device is busy/);
    assert.deepEqual(world.steps, ['unmount']);
    world.failures.clear();
    await world.sync.syncTerminatedPod({ kind: 'desired', pod }, never);
    assert.deepEqual(world.steps.slice(1), ['unmount', 'cgroups uid-1', 'finish web']);
  });

  test('a pod that comes back under the same uid begins without a time of its last action', async () => {
    const world = new World();
    world.outcome = { acted: true };
    await world.sync.syncPod(pod, never);
    await world.sync.syncTerminatedPod({ kind: 'desired', pod }, never);
    await world.sync.syncPod(pod, never);
    assert.equal(world.asked[3], 0);
  });
});

test('a deadline that is over ends the pod with its message; one to come brings the next sync forward', async () => {
  const world = new World();
  world.deadline = { end: { reason: 'DeadlineExceeded', message: 'too long' } };
  const signal = new AbortController().signal;
  assert.deepEqual(await world.sync.syncPod(aPod(), signal), {
    kind: 'ended',
    decided: { reason: 'DeadlineExceeded', message: 'too long' },
  });
  assert.deepEqual(world.events.take(), ['Normal DeadlineExceeded: too long']);
  assert.deepEqual(world.decisions.take(), ['uid-1 giveUp DeadlineExceeded: too long']);
  world.deadline = { inMs: 700 };
  assert.deepEqual(await world.sync.syncPod(aPod(), signal), { kind: 'settled', requeueAfterMs: 700 });
  assert.deepEqual(world.events.take(), []);
});

test('probing begins before the first status, is reduced to readiness for the stop, and ends with the pod', async () => {
  const world = new World();
  const signal = new AbortController().signal;
  await world.sync.syncPod(aPod(), signal);
  await world.sync.syncTerminatingPod(aPod(), { graceSeconds: 5 }, signal);
  assert.deepEqual(world.probed, ['add uid-1', 'calm uid-1', 'remove uid-1']);
});

test('a sync that has nothing to wait for, and a step that was cancelled, are not recorded', async () => {
  const world = new World();
  await world.sync.syncPod(pod, never);
  const given = new AbortController();
  world.objects = new Promise((_, reject) =>
    given.signal.addEventListener('abort', () => reject(new Error('given up'))),
  );
  const done = world.sync.syncPod(pod, given.signal);
  done.catch(() => {});
  await settleTurn();
  given.abort();
  await assert.rejects(done, /given up/);
  assert.deepEqual(world.decisions.take(), []);
});
