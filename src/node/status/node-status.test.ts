import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Heartbeats } from '../../base/heartbeats.ts';
import { TubeletError } from '../../base/errors.ts';
import type { Node } from '../../gen/kubernetes/types.ts';
import { NodeWorld } from '../../testing/node-world.ts';
import { nodeDiff } from '../node-diff.ts';
import { NodeView } from '../node-view.ts';
import { isReady } from './compute-report.ts';
import { NodeStatus } from './node-status.ts';

const minute = 60_000;

class StatusWorld extends NodeWorld {
  readonly own = this.ownNode();
  isRegistered = true;
  readonly view = new NodeView({ nodeName: 'vm', mirror: this.mirror, devices: {}, outwardAddresses: () => [] });
  readonly status = new NodeStatus({
    heartbeats: new Heartbeats(),
    clock: this.clock,
    random: this.random,
    log: this.log,
    api: this.api,
    mirror: this.mirror,
    own: this.own,
    view: this.view,
    diff: nodeDiff,
    events: this.events,
    updateMs: 10_000,
    reportMs: 5 * minute,
    registered: () => this.isRegistered,
    shuttingDown: () => false,
    resetConnections: () => void this.resets++,
    onReported: () => {},
  });

  /** The node as it is after a registration, ready or not. */
  async withNode(ready: boolean): Promise<this> {
    this.notReady = ready ? [] : ['not yet'];
    this.node = await this.api.create({ ...nodes }, undefined, (await this.own.initial()).node, { lane: 'vital' });
    this.taken();
    return this;
  }

  reasons(): readonly string[] {
    return this.recorded.splice(0).map(({ reason }) => reason);
  }
}

const nodes = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };

describe('NodeStatus', () => {
  test('the view has our own node after the start, without any API server', async () => {
    const world = new StatusWorld();
    world.isRegistered = false;
    await world.status.start();
    assert.deepEqual(world.view.hostIps(), ['192.0.2.2']);
    assert.equal(world.view.allocatable()['pods'], '250');
    assert.equal(world.view.labels()['kubernetes.io/hostname'], 'vm');
    await world.clock.advance(minute);
    assert.deepEqual(world.calls, []);
    await world.status.stop();
    assert.equal(world.clock.pending(), 0);
  });

  test('ready is written at once when the last obstacle ends, not at the next tick', async () => {
    const world = await new StatusWorld().withNode(false);
    await world.status.start();
    world.status.nodeRegistered(world.node);
    await world.clock.settle();
    assert.equal(world.condition('Ready'), 'False');
    world.taken();
    world.notReady = [];
    world.status.wake();
    await world.clock.settle();
    assert.equal(world.condition('Ready'), 'True');
    assert.deepEqual(world.taken(), ['patch status nodes']);
    assert.deepEqual(world.reasons(), ['NodeReady']);
    // And lost likewise, once the time of the start is over.
    await world.clock.advance(10_500);
    world.notReady = ['container runtime is down'];
    world.status.wake();
    await world.clock.settle();
    assert.equal(world.condition('Ready'), 'False');
    assert.deepEqual(world.reasons(), ['NodeNotReady']);
    await world.status.stop();
  });

  test('nothing new: computed every ten seconds, written every five minutes', async () => {
    const world = await new StatusWorld().withNode(true);
    await world.status.start();
    await world.clock.advance(1_000);
    assert.deepEqual(world.taken(), [], 'the same second has nothing new, not even a heartbeat');
    await world.clock.advance(4 * minute);
    assert.deepEqual(world.taken(), []);
    await world.clock.advance(minute + 11_000);
    assert.deepEqual(world.taken(), ['patch status nodes']);
    const [patch] = world.patches as { status: { conditions: { message?: string }[] } }[];
    assert.deepEqual(Object.keys(patch?.status ?? {}).toSorted(), ['$setElementOrder/conditions', 'conditions']);
    assert.equal(patch?.status.conditions[0]?.message, undefined);
    await world.status.stop();
  });

  test('a mirror that is behind does not cause a second write', async () => {
    const world = await new StatusWorld().withNode(false);
    world.stale = world.node;
    await world.status.start();
    world.notReady = [];
    world.status.wake();
    await world.clock.settle();
    world.status.wake();
    await world.clock.settle();
    assert.deepEqual(world.taken(), ['patch status nodes']);
    assert.deepEqual(world.reasons(), ['NodeReady']);
    await world.status.stop();
  });

  test('a restarted agent does not call a ready node otherwise before it knows', async () => {
    const world = await new StatusWorld().withNode(true);
    world.notReady = ['CSINode is not yet initialized'];
    await world.status.start();
    world.status.nodeRegistered(world.node);
    await world.clock.advance(5_000);
    assert.deepEqual(world.taken(), []);
    assert.equal(world.condition('Ready'), 'True');
    await world.clock.advance(5_100);
    assert.equal(world.condition('Ready'), 'False', 'it has had its time');
    assert.deepEqual(world.reasons(), ['NodeNotReady']);
    await world.status.stop();
  });

  test('a hung runtime does not keep the node from reporting it', async () => {
    const world = await new StatusWorld().withNode(true);
    await world.status.start();
    await world.clock.advance(minute);
    world.images = () => new Promise(() => {});
    world.notReady = ['container runtime is down'];
    world.status.wake();
    await world.clock.advance(2_100);
    assert.equal(world.condition('Ready'), 'False');
    await world.status.stop();
  });

  test('what the control plane made of a silent node is corrected when the mirror changes', async () => {
    const world = await new StatusWorld().withNode(true);
    await world.status.start();
    await world.clock.advance(20_000);
    const previous = world.node;
    const conditions = previous?.status?.conditions?.map((one) => ({ ...one, status: 'Unknown' })) ?? [];
    const object: Node = { ...previous, status: { ...previous?.status, conditions } };
    world.node = object;
    world.status.mirrorChanged({ type: 'put', object, previous });
    await world.clock.settle();
    assert.ok(isReady(world.node));
    await world.status.stop();
  });

  test('a cordon is reported; other writes of other clients trigger nothing', async () => {
    const world = await new StatusWorld().withNode(true);
    await world.status.start();
    await world.clock.advance(20_000);
    world.reasons();
    const previous = world.node;
    const labelled = {
      ...previous,
      metadata: { ...previous?.metadata, labels: { ...previous?.metadata?.labels, x: 'y' } },
    };
    world.status.mirrorChanged({ type: 'put', object: labelled, previous });
    const object = { ...labelled, spec: { unschedulable: true } };
    world.node = object;
    world.status.mirrorChanged({ type: 'put', object, previous: labelled });
    await world.clock.settle();
    assert.deepEqual(world.reasons(), ['NodeNotSchedulable']);
    assert.equal(world.node.metadata?.labels?.['x'], 'y');
    await world.status.stop();
  });
});

describe('NodeStatus and a failing API server', () => {
  test('unavailable: five tries, the first from the mirror; new connections; soon after its return all is written', async () => {
    const world = await new StatusWorld().withNode(true);
    await world.status.start();
    await world.clock.advance(15_000);
    world.taken();
    world.failure = () => new TubeletError('unavailable', 'connection refused');
    world.notReady = ['container runtime is down'];
    world.status.wake();
    await world.clock.settle();
    assert.deepEqual(world.taken(), ['patch status nodes', 'get nodes', 'get nodes', 'get nodes', 'get nodes']);
    assert.ok(world.resets > 0);
    assert.deepEqual(world.reasons(), [], 'nothing has been written, nothing has happened');
    await world.clock.advance(5 * minute);
    world.failure = () => undefined;
    await world.clock.advance(12_500);
    assert.equal(world.condition('Ready'), 'False');
    assert.deepEqual(world.reasons(), ['NodeNotReady']);
    await world.status.stop();
    assert.equal(world.clock.pending(), 0);
  });

  test("a conflict is retried with the server's object", async () => {
    const world = await new StatusWorld().withNode(false);
    let conflicts = 1;
    world.failure = (call) =>
      call.startsWith('patch') && conflicts-- > 0 ? new TubeletError('conflict', 'modified') : undefined;
    await world.status.start();
    world.notReady = [];
    world.status.wake();
    await world.clock.settle();
    assert.deepEqual(world.taken(), ['patch status nodes', 'get nodes', 'patch status nodes']);
    assert.equal(world.condition('Ready'), 'True');
    assert.deepEqual(world.reasons(), ['NodeReady']);
    await world.status.stop();
  });

  test('forbidden: keeps trying, logs it, and never stops the loop', async () => {
    const world = await new StatusWorld().withNode(false);
    world.failure = () => new TubeletError('denied', 'nodes "vm" is forbidden');
    world.notReady = [];
    await world.status.start();
    await world.clock.advance(minute);
    assert.ok(world.log.messages('error').includes('Unable to update node status'));
    assert.equal(world.resets, 0);
    world.failure = () => undefined;
    await world.clock.advance(12_500);
    assert.equal(world.condition('Ready'), 'True');
    await world.status.stop();
  });

  test('an empty mirror: the server is asked', async () => {
    const world = await new StatusWorld().withNode(false);
    world.stale = 'none';
    world.notReady = [];
    await world.status.start();
    await world.clock.settle();
    assert.deepEqual(world.taken(), ['get nodes', 'patch status nodes']);
    await world.status.stop();
  });
});
