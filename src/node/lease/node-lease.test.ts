import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Heartbeats } from '../../base/heartbeats.ts';
import { TubeletError } from '../../base/errors.ts';
import type { Lease } from '../../gen/kubernetes/types.ts';
import type { ApiClient } from '../../model/api-client.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { computeLease, microTime } from './compute-lease.ts';
import { NodeLease } from './node-lease.ts';

const input = { nodeName: 'n1', node: undefined, durationSeconds: 40, nowMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678) };

describe('computeLease', () => {
  test('from nothing, before and after the node is known', () => {
    const spec = { holderIdentity: 'n1', leaseDurationSeconds: 40, renewTime: '2026-01-02T03:04:05.678000Z' };
    const lease = computeLease(undefined, input);
    assert.deepEqual(lease.metadata, { name: 'n1', namespace: 'kube-node-lease' });
    assert.deepEqual(lease.spec, spec);
    const owned = computeLease(lease, { ...input, node: { name: 'n1', uid: 'u' } });
    assert.deepEqual(owned.metadata?.ownerReferences, [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u' }]);
  });

  test('owners that are there stay as they are', () => {
    const owners = [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'older' }];
    const known = { metadata: { name: 'n1', resourceVersion: '5', ownerReferences: owners } };
    const lease = computeLease(known, { ...input, node: { name: 'n1', uid: 'u' } });
    assert.deepEqual(lease.metadata?.ownerReferences, owners);
    assert.equal(lease.metadata?.resourceVersion, '5');
  });

  test('microseconds', () => {
    assert.equal(microTime(1_000.25), '1970-01-01T00:00:01.000250Z');
  });
});

class World {
  readonly clock = new FakeClock();
  stored: Lease | undefined;
  version = 0;
  readonly calls: string[] = [];
  failure: TubeletError | undefined;
  resets = 0;
  readonly api: Pick<ApiClient, 'get' | 'create' | 'update'> = {
    get: async () => {
      this.#call('get');
      if (this.stored === undefined) throw new TubeletError('notFound', 'no lease');
      return this.stored as never;
    },
    create: async (_, namespace, object) => {
      this.#call(`create ${namespace}`);
      return this.#store(object) as never;
    },
    update: async (_, ref, object, options) => {
      this.#call(`update ${ref.name} ${options?.lane}`);
      if (object.metadata?.resourceVersion !== this.stored?.metadata?.resourceVersion) {
        throw new TubeletError('conflict', 'the object has been modified');
      }
      return this.#store(object) as never;
    },
  };
  readonly lease = new NodeLease({
    heartbeats: new Heartbeats(),
    clock: this.clock,
    random: seededRandom(3),
    log: new MemoryLog(),
    api: this.api,
    nodeName: 'n1',
    durationSeconds: 40,
    node: () => ({ name: 'n1', uid: 'u' }),
    resetConnections: () => void this.resets++,
  });

  #call(call: string): void {
    this.calls.push(call);
    if (this.failure !== undefined) throw this.failure;
  }

  #store(lease: Lease): Lease {
    this.stored = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(++this.version) } };
    return this.stored;
  }
}

describe('NodeLease', () => {
  test('made once, renewed at a quarter of its span without reading it again', async () => {
    const world = new World();
    await world.lease.start();
    await world.clock.settle();
    assert.deepEqual(world.calls, ['get', 'create kube-node-lease', 'update n1 vital']);
    const first = world.stored?.spec?.renewTime;
    await world.clock.advance(9_900);
    assert.equal(world.calls.length, 3);
    await world.clock.advance(600);
    assert.deepEqual(world.calls.slice(3), ['update n1 vital']);
    assert.notEqual(world.stored?.spec?.renewTime, first);
    await world.lease.stop();
    assert.equal(world.clock.pending(), 0);
  });

  test('another client wrote it, or removed it: continues from the current object', async () => {
    const world = new World();
    await world.lease.start();
    await world.clock.settle();
    world.stored = { ...world.stored, metadata: { ...world.stored?.metadata, resourceVersion: '99' } };
    await world.clock.advance(10_500);
    assert.deepEqual(world.calls.slice(3), ['update n1 vital', 'get', 'update n1 vital']);
    await world.lease.stop();
  });

  test('an unavailable server is asked again soon, on new connections, until it is back', async () => {
    const world = new World();
    await world.lease.start();
    await world.clock.settle();
    world.failure = new TubeletError('unavailable', 'connection refused');
    await world.clock.advance(60_000);
    assert.ok(world.resets > 0);
    const before = world.stored?.spec?.renewTime;
    world.failure = undefined;
    await world.clock.advance(9_000);
    assert.notEqual(world.stored?.spec?.renewTime, before);
    await world.lease.stop();
  });
});
