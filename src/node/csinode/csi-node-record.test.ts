import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import type { CSINode } from '../../gen/kubernetes/types.ts';
import { NodeWorld } from '../../testing/node-world.ts';
import { migratedPluginsAnnotation, newCsiNode } from './compute-csi-node.ts';
import { CsiNodeRecord } from './csi-node-record.ts';

const node = { metadata: { name: 'vm', uid: 'u' } };

async function started(world: NodeWorld): Promise<{ readonly record: CsiNodeRecord; readonly told: unknown[] }> {
  const told: unknown[] = [];
  const { clock, random, log, api } = world;
  const record: CsiNodeRecord = new CsiNodeRecord({
    clock,
    random,
    log,
    api,
    nodeName: 'vm',
    onChange: () => void told.push(record.problem()),
  });
  await record.start();
  return { record, told };
}

test('made once the node is there, and then in nobody’s way', async () => {
  const world = new NodeWorld();
  const { record, told } = await started(world);
  await world.clock.advance(60_000);
  assert.deepEqual(world.calls, []);
  assert.equal(record.problem(), 'CSINode is not yet initialized');
  record.begin(node);
  await world.clock.settle();
  assert.deepEqual(world.taken(), ['get csinodes', 'create csinodes']);
  assert.equal(world.csiNode?.metadata?.ownerReferences?.[0]?.uid, 'u');
  assert.deepEqual(told, [undefined]);
  await record.stop();
});

test('one that is there is kept; only our own word in it is set right', async () => {
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

test('whose node nobody handed over: asked for', async () => {
  const world = new NodeWorld();
  world.node = node;
  const { record } = await started(world);
  record.begin(undefined);
  await world.clock.settle();
  assert.deepEqual(world.taken(), ['get csinodes', 'get nodes', 'create csinodes']);
  await record.stop();
});

test('a server that is away or forbids it is asked again, and the reason is told', async () => {
  const world = new NodeWorld();
  const { record, told } = await started(world);
  world.failure = () => new TubeletError('unavailable', 'connection refused');
  record.begin(node);
  await world.clock.advance(1_000);
  assert.equal(record.problem(), 'CSINode is not yet initialized');
  assert.deepEqual(told, []);
  world.failure = () => new TubeletError('denied', 'create: forbidden', { words: 'forbidden' });
  await world.clock.advance(10_000);
  assert.equal(record.problem(), 'failed to initialize CSINode: forbidden');
  world.failure = () => undefined;
  await world.clock.advance(10_000);
  assert.deepEqual(told, ['failed to initialize CSINode: forbidden', undefined]);
  await record.stop();
  assert.equal(world.clock.pending(), 0);
});
