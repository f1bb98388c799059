import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Heartbeats } from '../../base/heartbeats.ts';
import { podUid, type PodUid } from '../../base/ids.ts';
import { Registry } from '../../telemetry/registry.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryDecisions } from '../../testing/memory-decisions.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { aSandbox, observedPod } from '../../testing/pods.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { Housekeeping } from './housekeeping.ts';

const [a, b] = [podUid('a'), podUid('b')];

/** Everything housekeeping reads, in plain sets, and a record of what it did. */
class World {
  readonly clock = new FakeClock();
  readonly log = new MemoryLog();
  readonly desired = new Set<PodUid>();
  /** Uid → whether the worker is over. */
  readonly workers = new Map<PodUid, boolean>();
  readonly continuing = new Set<PodUid>();
  readonly inRuntime = new Set<PodUid>();
  /** In the runtime, but the last relist could not read the list of the pod; an inspection can. */
  readonly unlisted = new Set<PodUid>();
  readonly onDisk = new Set<PodUid>();
  readonly done: string[] = [];
  sourcesReady = true;
  /** What happens during an operation: a failure, or the world goes on. */
  during: (operation: string) => void | Promise<void> = () => {};

  readonly decisions = new MemoryDecisions();
  readonly housekeeping = new Housekeeping({
    metrics: new Registry(),
    heartbeats: new Heartbeats(),
    decisions: this.decisions,
    clock: this.clock,
    random: seededRandom(1),
    log: this.log,
    sourcesReady: () => this.sourcesReady,
    isDesired: (uid) => this.desired.has(uid),
    lifecycles: {
      uids: () => [...this.workers.keys()],
      knows: (uid) => this.workers.has(uid),
      canBeRemoved: (uid) => this.workers.get(uid) === true,
      continuesFormerLife: (uid) => this.continuing.has(uid),
    },
    remembered: () => [],
    workers: {
      adoptOrphan: ({ uid, namespace, name }) => {
        this.done.push(`adopt ${uid} ${namespace}/${name}`);
        this.workers.set(uid, false);
      },
      forget: (uid) => {
        if (this.workers.get(uid) !== true) return false;
        this.done.push(`forget ${uid}`);
        return this.workers.delete(uid);
      },
    },
    observed: {
      listed: () => new Map([...this.inRuntime].map((uid) => [uid, { name: `of-${uid}`, namespace: 'default' }])),
      inspect: async (uid) => {
        await this.during(`inspect ${uid}`);
        if (this.unlisted.delete(uid)) this.inRuntime.add(uid);
        return observedPod(this.inRuntime.has(uid) ? [aSandbox('of-it')] : [], [], uid);
      },
    },
    remover: {
      remove: async ({ uid }) => {
        await this.during(`remove ${uid}`);
        this.done.push(`remove ${uid}`);
        this.inRuntime.delete(uid);
      },
    },
    directories: {
      remove: async (uid) => {
        await this.during(`files ${uid}`);
        this.done.push(`files ${uid}`);
        this.onDisk.delete(uid);
      },
      uids: async () => {
        const found = new Set<string>(this.onDisk);
        await this.during('disk');
        return found;
      },
    },
    podRemoval: { podRemoved: (uid) => void this.done.push(`podRemoved ${uid}`) },
  });

  tidy(): Promise<void> {
    return this.housekeeping.runOnce(new AbortController().signal);
  }

  /** A pod that has ended and that its source dropped. */
  over(uid: PodUid): void {
    this.workers.set(uid, true);
    this.inRuntime.add(uid);
    this.onDisk.add(uid);
  }

  /** Its source names the pod again under the same uid: a new worker begins a new life. */
  comesBack(uid: PodUid): void {
    this.desired.add(uid);
    this.workers.set(uid, false);
  }
}

describe('what is removed', () => {
  test('a finished pod is removed from the runtime, the disk and memory, in that order', async () => {
    const world = new World();
    world.over(a);
    await world.tidy();
    assert.deepEqual(world.done, ['remove a', 'files a', 'podRemoved a', 'forget a']);
    assert.deepEqual(world.decisions.take(), ['a remove Removed: nothing of it is left in the runtime and on disk']);
    await world.tidy();
    assert.equal(world.done.length, 4);
  });

  test('files that nothing else knows of', async () => {
    const world = new World();
    world.onDisk.add(a);
    await world.tidy();
    assert.deepEqual(world.done, ['files a', 'podRemoved a']);
    assert.deepEqual(world.log.messages('info'), ['Removing orphaned pod directory']);
  });

  test('no files of a pod that runs, though the relist did not show it; it is an orphan', async () => {
    const world = new World();
    world.onDisk.add(a);
    world.unlisted.add(a);
    await world.tidy();
    assert.deepEqual(world.done, []);
    await world.tidy();
    assert.deepEqual(world.done, ['adopt a default/of-a']);
  });

  test('no files as long as the runtime cannot be asked for the pod', async () => {
    const world = new World();
    world.onDisk.add(a);
    world.during = (now) => {
      if (now === 'inspect a') throw new Error('the list is too long');
    };
    await world.tidy();
    assert.deepEqual([world.done, [...world.onDisk]], [[], [a]]);
    assert.equal(world.housekeeping.stuck()[0]?.why, 'the list is too long');
  });

  test('an orphan is adopted once', async () => {
    const world = new World();
    world.inRuntime.add(a);
    world.onDisk.add(a);
    await world.tidy();
    await world.tidy();
    assert.deepEqual(world.done, ['adopt a default/of-a']);
    world.workers.set(a, true);
    await world.tidy();
    assert.deepEqual(world.done.slice(1), ['remove a', 'files a', 'podRemoved a', 'forget a']);
  });

  test('nothing before the sources are ready', async () => {
    const world = new World();
    world.sourcesReady = false;
    world.over(a);
    world.inRuntime.add(b);
    world.onDisk.add(podUid('c'));
    await world.tidy();
    assert.deepEqual(world.done, []);
  });
});

describe('a pod that comes back', () => {
  test('and starts its containers again keeps what is there of them; only its per-pod state is dropped', async () => {
    const world = new World();
    world.over(a);
    world.continuing.add(a);
    await world.tidy();
    assert.deepEqual(world.done, ['podRemoved a', 'forget a']);
    assert.equal(world.inRuntime.has(a) && world.onDisk.has(a), true);
  });
});

describe('a pod that comes back in the middle', () => {
  const during: Readonly<Record<string, readonly string[]>> = {
    'inspect a': [],
    'remove a': ['remove a'],
    'files a': ['remove a', 'files a'],
  };
  for (const [operation, done] of Object.entries(during)) {
    test(`during "${operation}" loses nothing more`, async () => {
      const world = new World();
      world.over(a);
      world.during = (now) => (now === operation ? world.comesBack(a) : undefined);
      await world.tidy();
      assert.deepEqual(world.done, done);
      assert.equal(world.workers.get(a), false);
    });
  }

  test('while another is being removed keeps all it has', async () => {
    const world = new World();
    world.over(a);
    world.over(b);
    world.during = (now) => (now === 'remove a' ? world.comesBack(b) : undefined);
    await world.tidy();
    assert.deepEqual(world.done, ['remove a', 'files a', 'podRemoved a', 'forget a']);
    assert.equal(world.inRuntime.has(b) && world.onDisk.has(b), true);
  });

  test('while its orphaned directory is being removed is not forgotten', async () => {
    const world = new World();
    world.onDisk.add(b);
    world.during = (now) => (now === 'files b' ? world.comesBack(b) : undefined);
    await world.tidy();
    assert.deepEqual(world.done, ['files b']);
  });

  test('while the runtime is asked for its orphaned directory keeps its files', async () => {
    const world = new World();
    world.onDisk.add(b);
    world.during = (now) => (now === 'inspect b' ? world.comesBack(b) : undefined);
    await world.tidy();
    assert.deepEqual([world.done, [...world.onDisk]], [[], [b]]);
  });

  test('while the disk is being read keeps its files, though they were orphaned', async () => {
    const world = new World();
    world.onDisk.add(b);
    world.during = (now) => (now === 'disk' ? world.comesBack(b) : undefined);
    await world.tidy();
    assert.equal(world.onDisk.has(b), true);
    assert.equal(world.done.includes('podRemoved b'), false);
  });
});

describe('a removal that is stuck', () => {
  test('and hangs holds up neither another nor a round', async () => {
    const world = new World();
    world.over(a);
    world.over(b);
    world.during = (now) => (now === 'remove a' ? new Promise(() => {}) : undefined);
    await world.housekeeping.start();
    await world.clock.advance(0);
    assert.deepEqual(world.done, ['remove b', 'files b', 'podRemoved b', 'forget b']);
    world.over(b);
    world.housekeeping.wake();
    await world.clock.advance(0);
    assert.equal(world.workers.has(b), false);
  });

  test('is logged once, tried again, and holds up no other', async () => {
    const world = new World();
    world.over(a);
    world.over(b);
    world.during = (now) => {
      if (now === 'files a') throw new Error('device is busy');
    };
    await world.tidy();
    await world.tidy();
    await world.tidy();
    assert.deepEqual(world.log.messages('error'), ['Cannot remove what is left of a pod, will try again']);
    assert.deepEqual(world.log.entries[0]?.fields, { podUID: 'a' });
    const retries = world.decisions.entries.filter(({ pod }) => pod?.uid === a).map(({ decision }) => decision);
    assert.deepEqual(
      retries.map(({ reason, message, inputs, nextTryInMs }) => [reason, message, inputs?.['failures'], nextTryInMs]),
      [500, 1_000, 2_000].map((ms, index) => ['CannotRemove', 'device is busy', index + 1, ms]),
    );
    assert.equal(world.workers.has(b), false);
    world.during = () => {};
    await world.tidy();
    assert.equal(world.workers.has(a), false);
  });

  test('is shown with its reason for as long as it lasts', async () => {
    const world = new World();
    world.onDisk.add(a);
    let why: string | undefined = 'a is mounted';
    world.during = (now) => {
      if (now === 'files a' && why !== undefined) throw new Error(why);
    };
    const began = world.clock.now();
    const round = async (): Promise<unknown> => {
      await world.clock.advance(60_000);
      await world.tidy();
      return world.housekeeping.stuck();
    };
    assert.deepEqual(await round(), [{ uid: a, why: 'a is mounted', since: began + 60_000, failures: 1 }]);
    assert.deepEqual(await round(), [{ uid: a, why: 'a is mounted', since: began + 60_000, failures: 2 }]);
    why = 'a is not empty';
    assert.deepEqual(await round(), [{ uid: a, why: 'a is not empty', since: began + 180_000, failures: 3 }]);
    assert.deepEqual(world.log.messages('info'), ['Removing orphaned pod directory'], 'not at every try');
    why = undefined;
    assert.deepEqual(await round(), []);
  });

  test('is forgotten when another process has removed it', async () => {
    const world = new World();
    world.onDisk.add(a);
    world.during = (now) => {
      if (now === 'files a') throw new Error('a is mounted');
    };
    await world.tidy();
    world.onDisk.delete(a);
    await world.tidy();
    assert.deepEqual(world.housekeeping.stuck(), []);
    world.onDisk.add(a);
    await world.tidy();
    assert.equal(world.log.messages('error').length, 2, 'and logged anew when it comes back');
  });

  test('is logged again when the reason is another, or when it comes back after a success', async () => {
    const world = new World();
    let reason: string | undefined = 'device is busy';
    world.during = (now) => {
      if (now === 'files a' && reason !== undefined) throw new Error(reason);
    };
    const round = async (why: string | undefined): Promise<number> => {
      world.over(a);
      reason = why;
      await world.tidy();
      return world.log.messages('error').length;
    };
    assert.equal(await round('device is busy'), 1);
    assert.equal(await round('read-only file system'), 2);
    assert.equal(await round('read-only file system'), 2);
    assert.equal(await round(undefined), 2);
    assert.equal(await round('read-only file system'), 3);
  });
});
