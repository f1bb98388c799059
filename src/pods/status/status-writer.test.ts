import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import { podUid } from '../../base/ids.ts';
import type { Pod, PodStatus } from '../../gen/kubernetes/types.ts';
import type { ApiWriter } from '../../model/api-client.ts';
import { desiredPod, type PodSource } from '../../model/desired-pod.ts';
import { applyStrategicMergePatch } from '../../testing/apply-strategic-merge-patch.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { StatusWriter } from './status-writer.ts';

const uid = podUid('u1');
const object: Pod = {
  metadata: { name: 'web', namespace: 'shop', uid, resourceVersion: '1' },
  spec: { containers: [{ name: 'c', image: 'busybox' }] },
  status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'True' }] },
};
const ready = (status: string): PodStatus => ({
  phase: 'Running',
  conditions: [
    { type: 'PodScheduled', status: 'True' },
    { type: 'Ready', status },
  ],
});

/** A server with one pod, and a watch that shows it on demand. */
class World {
  readonly clock = new FakeClock();
  stored: Pod | undefined = object;
  watched: Pod | undefined = object;
  status: PodStatus | undefined;
  finished = false;
  /** No source names the pod any more, and what was remembered of it has been dropped. */
  forgotten = false;
  source: PodSource = 'api';
  failure: TubeletError | undefined;
  failureAfterwards: TubeletError | undefined;
  /** Makes the server change what it is sent. */
  drops: (pod: Pod) => Pod = (pod) => pod;
  /** Happens here while an answer is under way. */
  meanwhile: () => void = () => {};
  readonly sent: unknown[] = [];
  readonly seconds: number[] = [];
  readonly writer = new StatusWriter({
    clock: this.clock,
    random: seededRandom(1),
    log: new MemoryLog(),
    api: {
      patch: async (_, ref, patch, { subresource }) => {
        assert.deepEqual([ref, subresource], [{ namespace: 'shop', name: 'web' }, 'status']);
        this.sent.push(patch);
        if (this.failure !== undefined) throw this.failure;
        const patched = applyStrategicMergePatch(this.stored ?? {}, patch, 'Pod');
        const resourceVersion = String(Number(this.stored?.metadata?.resourceVersion) + 1);
        this.stored = this.drops({ ...patched, metadata: { ...patched.metadata, resourceVersion } });
        this.meanwhile();
        if (this.failureAfterwards !== undefined) throw this.failureAfterwards;
        return this.stored as never;
      },
      delete: async (_, ref, options) => {
        this.sent.push({ delete: ref.name, uid: options?.uid, grace: options?.gracePeriodSeconds });
        if (this.failure !== undefined) throw this.failure;
        this.stored = undefined;
        this.meanwhile();
      },
    } satisfies Pick<ApiWriter, 'patch' | 'delete'>,
    desired: () => (this.forgotten ? undefined : desiredPod(this.source, object)),
    status: () => this.status,
    copyOf: () => this.watched,
    mayDelete: () => this.finished,
    observe: (seconds) => void this.seconds.push(seconds),
  });

  async says(status: PodStatus): Promise<void> {
    this.status = status;
    this.writer.changed(uid);
    await this.clock.settle();
  }

  /** The watch shows what the server has. */
  async catchesUp(): Promise<void> {
    this.watched = this.stored;
    this.writer.wake(uid);
    await this.clock.settle();
  }
}

async function started(): Promise<World> {
  const world = new World();
  await world.writer.start();
  return world;
}

describe('StatusWriter', () => {
  test('sends the difference, for that very pod, once', async () => {
    const world = await started();
    await world.says(ready('False'));
    await world.catchesUp();
    await world.catchesUp();
    assert.equal(world.sent.length, 1);
    const [patch] = world.sent as [{ metadata: unknown; status: PodStatus }];
    assert.deepEqual(patch.metadata, { uid });
    assert.equal(patch.status.phase, 'Running');
    assert.deepEqual(
      patch.status.conditions?.map(({ type }) => type),
      ['Ready'],
    );
    assert.equal(world.seconds.length, 1);
  });

  test('a flip back is sent, though the watch has not shown the flip yet', async () => {
    const world = await started();
    await world.says(ready('False'));
    await world.catchesUp();
    await world.says(ready('True'));
    await world.says(ready('False'));
    assert.equal(world.sent.length, 3);
    assert.equal(world.stored?.status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'False');
  });

  test('conditions of others survive', async () => {
    const world = await started();
    await world.says(ready('False'));
    const gate = { type: 'example.com/gate', status: 'True' };
    const conditions = [...(world.stored?.status?.conditions ?? []), gate];
    world.stored = {
      ...world.stored,
      metadata: { ...world.stored?.metadata, resourceVersion: '7' },
      status: { ...world.stored?.status, conditions },
    };
    await world.catchesUp();
    await world.says(ready('True'));
    assert.ok(world.stored.status?.conditions?.some(({ type }) => type === gate.type));
  });

  test('a server that drops fields is not written to in a loop', async () => {
    const world = await started();
    world.drops = (pod) => ({ ...pod, status: { ...pod.status, phase: 'Pending' } });
    await world.says(ready('True'));
    await world.catchesUp();
    await world.catchesUp();
    assert.equal(world.sent.length, 1);
    await world.clock.advance(10_100);
    assert.equal(world.sent.length, 2, 'but every ten seconds');
    await world.writer.stop();
  });

  test('a status without conditions is sent once, though the server keeps no empty list', async () => {
    const world = await started();
    world.drops = (pod) => {
      const { conditions = [], ...status } = pod.status ?? {};
      return { ...pod, status: conditions.length === 0 ? status : { ...status, conditions } };
    };
    await world.says({ phase: 'Failed', reason: 'AppArmor', message: 'Pod was rejected' });
    assert.deepEqual(world.stored?.status, { phase: 'Failed', reason: 'AppArmor', message: 'Pod was rejected' });
    await world.catchesUp();
    await world.clock.advance(60_000);
    assert.equal(world.sent.length, 1);
    await world.writer.stop();
  });

  test('a mirror that was made again gets it at once', async () => {
    const world = await started();
    world.source = 'file';
    await world.says(ready('True'));
    await world.catchesUp();
    assert.equal(world.sent.length, 1);
    world.stored = { ...object, metadata: { ...object.metadata, uid: 'anew', resourceVersion: '7' } };
    await world.catchesUp();
    assert.equal(world.sent.length, 2);
    assert.equal(world.stored.status?.phase, 'Running');
  });

  test('a server that is away gets the newest status when it is back', async () => {
    const world = await started();
    world.failure = new TubeletError('unavailable', 'connection refused');
    await world.says(ready('False'));
    await world.says(ready('True'));
    const tries = world.sent.length;
    world.failure = undefined;
    world.writer.retryAll();
    await world.clock.settle();
    assert.equal(world.sent.length, tries + 1);
    assert.equal(world.stored?.status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
  });

  test('a pod that was deleted there is not retried', async () => {
    for (const kind of ['notFound', 'conflict'] as const) {
      const world = await started();
      world.failure = new TubeletError(kind, 'gone');
      await world.says(ready('False'));
      await world.clock.advance(60_000);
      assert.equal(world.sent.length, 1, kind);
    }
  });

  test('deleted after its last status, when nothing of it is left here; only that uid', async () => {
    const world = await started();
    const going = { ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-02T03:04:05Z' } };
    world.watched = world.stored = going;
    await world.says(ready('False'));
    assert.equal(world.sent.length, 1, 'not while it may run');
    world.finished = true;
    world.status = { phase: 'Failed', conditions: [] };
    world.writer.changed(uid);
    await world.clock.settle();
    assert.deepEqual(world.sent.slice(2), [{ delete: 'web', uid, grace: 0 }]);
    world.writer.wake(uid);
    await world.clock.settle();
    assert.equal(world.sent.length, 3, 'a finalizer may hold it; it is not asked for again at once');
    await world.writer.stop();
  });

  test('not deleted before its last status, although that came while an older one was being written', async () => {
    const world = await started();
    const going = { ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-02T03:04:05Z' } };
    world.watched = world.stored = going;
    world.meanwhile = () => {
      world.meanwhile = () => {};
      world.finished = true;
      world.status = { phase: 'Failed', conditions: [] };
      world.writer.changed(uid);
    };
    await world.says(ready('False'));
    const writes = world.sent.map((sent) => (sent as { status?: PodStatus }).status?.phase ?? 'delete');
    assert.deepEqual(writes, ['Running', 'Failed', 'delete']);
    await world.writer.stop();
  });

  test('an answer that comes when the pod is forgotten already is not remembered', async () => {
    for (const [finished, failureAfterwards] of [
      [false, undefined],
      [false, new TubeletError('notFound', 'gone')],
      [true, undefined],
    ] as const) {
      const world = await started();
      await world.says(ready('True'));
      await world.catchesUp();
      world.meanwhile = () => {
        world.forgotten = true;
        world.writer.forget(uid);
      };
      Object.assign(world, { finished, failureAfterwards });
      if (finished) {
        world.watched = {
          ...world.stored,
          metadata: { ...object.metadata, deletionTimestamp: '2025-01-01T00:00:00Z' },
        };
        world.writer.wake(uid);
        await world.clock.settle();
      } else await world.says(ready('False'));
      assert.equal(world.sent.length, 2);
      assert.equal(world.writer.size(), 0);
      await world.writer.stop();
    }
  });

  test('a mirror is never deleted here, and a static pod without one waits for it', async () => {
    const world = await started();
    world.source = 'file';
    world.finished = true;
    world.watched = undefined;
    await world.says(ready('True'));
    assert.deepEqual(world.sent, []);
    world.watched = { ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-02T03:04:05Z' } };
    world.writer.wake(uid);
    await world.clock.settle();
    assert.equal(world.sent.length, 1);
  });
});
