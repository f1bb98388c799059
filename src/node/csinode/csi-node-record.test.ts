import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import type { CSINode } from '../../gen/kubernetes/types.ts';
import { NodeWorld } from '../../testing/node-world.ts';
import { migratedPluginsAnnotation, newCsiNode } from './compute-csi-node.ts';
import { CsiNodeRecord } from './csi-node-record.ts';

const node = { metadata: { name: 'vm', uid: 'u' } };

async function started(world: NodeWorld): Promise<{ readonly record: CsiNodeRecord; readonly reported: unknown[] }> {
  const reported: unknown[] = [];
  const { clock, random, log, api } = world;
  const record: CsiNodeRecord = new CsiNodeRecord({
    clock,
    random,
    log,
    api,
    nodeName: 'vm',
    statusDue: { mark: () => void reported.push(record.problem()) },
    watch: undefined,
  });
  await record.start();
  return { record, reported };
}

test('made once the node exists, and then it blocks nothing', async () => {
  const world = new NodeWorld();
  const { record, reported } = await started(world);
  await world.clock.advance(60_000);
  assert.deepEqual(world.calls, []);
  assert.equal(record.problem(), 'CSINode is not yet initialized');
  record.begin(node);
  await world.clock.settle();
  assert.deepEqual(world.taken(), ['get csinodes', 'create csinodes']);
  assert.equal(world.csiNode?.metadata?.ownerReferences?.[0]?.uid, 'u');
  assert.deepEqual(reported, [undefined]);
  await record.stop();
});

test('an existing one is kept; only our own annotation is corrected', async () => {
  const world = new NodeWorld();
  const drivers: CSINode['spec']['drivers'] = [{ name: 'd', nodeID: 'n' }];
  world.csiNode = { ...newCsiNode(node), spec: { drivers } };
  const { record } = await started(world);
  record.begin(node);
  await world.clock.settle();
  assert.deepEqual(world.taken(), ['get csinodes']);
  assert.equal(record.problem(), undefined);
  await record.stop();

  const other = new NodeWorld();
  other.csiNode = { metadata: { name: 'vm', annotations: { x: 'y' } }, spec: { drivers } };
  const second = await started(other);
  second.record.begin(node);
  await other.clock.settle();
  assert.deepEqual(other.taken(), ['get csinodes', 'update csinodes']);
  assert.deepEqual(other.csiNode.spec.drivers, drivers);
  assert.equal(other.csiNode.metadata?.annotations?.['x'], 'y');
  assert.match(other.csiNode.metadata?.annotations?.[migratedPluginsAnnotation] ?? '', /^kubernetes\.io\/aws-ebs,/);
  await second.record.stop();
});

test('whose node was not handed over: asked for', async () => {
  const world = new NodeWorld();
  world.node = node;
  const { record } = await started(world);
  record.begin(undefined);
  await world.clock.settle();
  assert.deepEqual(world.taken(), ['get csinodes', 'get nodes', 'create csinodes']);
  await record.stop();
});

test('a server that is unavailable or forbids it is asked again, and the reason is reported', async () => {
  const world = new NodeWorld();
  const { record, reported } = await started(world);
  world.failure = () => new TubeletError('unavailable', 'connection refused');
  record.begin(node);
  await world.clock.advance(1_000);
  assert.equal(record.problem(), 'CSINode is not yet initialized');
  assert.deepEqual(reported, []);
  world.failure = () => new TubeletError('denied', 'create: forbidden', { remoteMessage: 'forbidden' });
  await world.clock.advance(10_000);
  assert.equal(record.problem(), 'failed to initialize CSINode: forbidden');
  world.failure = () => undefined;
  await world.clock.advance(10_000);
  assert.deepEqual(reported, ['failed to initialize CSINode: forbidden', undefined]);
  await record.stop();
  assert.equal(world.clock.pending(), 0);
});

const never = new AbortController().signal;
const driver = { nodeId: 'n-1', topology: { 'x/zone': 'a' }, maxVolumes: 4 };

test('drivers come onto the record and the node, and go', async () => {
  const world = new NodeWorld();
  world.node = { metadata: { name: 'vm', labels: { other: 'label' } } };
  const { record } = await started(world);
  const set = record.setDriver('d', driver, never);
  await world.clock.settle();
  assert.deepEqual(world.taken(), [], 'not before there is a node');
  record.begin(node);
  await set;
  const calls = ['get nodes', 'patch status nodes', 'get csinodes', 'update csinodes'];
  assert.deepEqual(world.taken(), ['get csinodes', 'create csinodes', ...calls]);
  assert.deepEqual(world.csiNode?.spec.drivers, [
    { name: 'd', nodeID: 'n-1', topologyKeys: ['x/zone'], allocatable: { count: 4 } },
  ]);
  assert.deepEqual(world.node.metadata?.labels, { other: 'label', 'x/zone': 'a' });
  assert.equal(world.node.metadata?.annotations?.['csi.volume.kubernetes.io/nodeid'], '{"d":"n-1"}');

  await record.setDriver('d', driver, never);
  assert.deepEqual(world.taken(), ['get nodes', 'get csinodes'], 'nothing new, nothing written');

  record.removeDriver('d');
  await world.clock.settle();
  assert.deepEqual(world.taken(), ['get nodes', 'get csinodes', 'update csinodes', 'patch status nodes']);
  assert.deepEqual(world.csiNode?.spec.drivers, []);
  assert.deepEqual(world.node.metadata?.annotations ?? {}, {});
  assert.equal(world.node.metadata?.labels?.['x/zone'], 'a');
  await record.stop();
});

test('an impossible driver is refused, and does not block the others', async () => {
  const world = new NodeWorld();
  world.node = { metadata: { name: 'vm', labels: { 'x/zone': 'b' } } };
  const { record, reported } = await started(world);
  record.begin(node);
  const refused = assert.rejects(record.setDriver('d', driver, never), {
    kind: 'invalid',
    message: 'driver d reports x/zone=a, and the node is labelled x/zone=b',
  });
  await record.setDriver('e', { ...driver, topology: {} }, never);
  await refused;
  assert.deepEqual(
    world.csiNode?.spec.drivers.map(({ name }) => name),
    ['e'],
  );
  world.failure = (call) => (call === 'update csinodes' ? new TubeletError('denied', 'forbidden') : undefined);
  await assert.rejects(record.setDriver('f', { ...driver, topology: {} }, never), { kind: 'denied' });
  assert.deepEqual([record.problem(), reported], [undefined, [undefined]], 'the node stays ready');
  await world.clock.advance(60_000);
  assert.equal(world.clock.pending(), 0, 'what was refused is not tried again');
  await record.stop();
});

test('a change that only has to wait is written later, in its last state', async () => {
  const world = new NodeWorld();
  world.node = node;
  const { record } = await started(world);
  record.begin(node);
  await world.clock.settle();
  world.failure = () => new TubeletError('unavailable', 'connection refused');
  const waiter = new AbortController();
  const first = assert.rejects(record.setDriver('d', driver, never), { kind: 'cancelled' });
  await world.clock.settle();
  const second = assert.rejects(record.setDriver('d', { ...driver, nodeId: 'n-2' }, waiter.signal), /enough/);
  await first;
  waiter.abort(new Error('enough'));
  await second;
  world.failure = (call) => (call === 'update csinodes' ? new TubeletError('conflict', 'modified') : undefined);
  await world.clock.advance(1_000);
  world.failure = () => undefined;
  await world.clock.advance(10_000);
  assert.equal(world.csiNode?.spec.drivers[0]?.nodeID, 'n-2');
  const left = assert.rejects(
    async () => {
      world.failure = () => new TubeletError('unavailable', 'connection refused');
      await record.setDriver('e', driver, never);
    },
    { kind: 'cancelled' },
  );
  await world.clock.settle();
  await record.stop();
  await left;
  assert.equal(world.clock.pending(), 0);
});
