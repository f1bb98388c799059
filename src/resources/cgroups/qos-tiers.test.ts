import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { MemoryCgroupTree } from '../../testing/memory-cgroup-tree.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { aContainer, aPod } from '../../testing/pods.ts';
import { CgroupWriter } from './cgroup-writer.ts';
import { CgroupfsManager } from './cgroupfs-manager.ts';
import type { QosSettings } from './qos-cgroup-values.ts';
import { QosTiers } from './qos-tiers.ts';

const asking = (cpu: string, memory = '0'): DesiredPod =>
  aPod({ spec: { containers: [aContainer('main', { resources: { requests: { cpu, memory } } })] } });

function setUp(more: Partial<QosSettings> = {}, version: 1 | 2 = 1) {
  const tree = new MemoryCgroupTree();
  const log = new MemoryLog();
  const world = { pods: [] as DesiredPod[], complete: true };
  const controllers = new Set(['cpu', 'memory']);
  const tiers = new QosTiers({
    log,
    manager: new CgroupfsManager({ tree, writer: new CgroupWriter({ log, tree, version, controllers }) }),
    pods: { active: () => world.pods, complete: () => world.complete },
    settings: { hugePageSizes: [], memoryQos: false, allocatableMemoryBytes: 1_000n, ...more },
    cgroupRoot: '/',
    version,
  });
  return { tree, log, world, tiers };
}

test('tiers are made, and follow the pods that come and go', async () => {
  const { tree, world, tiers } = setUp();
  await tiers.make();
  assert.equal(tree.values('/kubepods/besteffort'), 'cpu.shares=2');
  assert.equal(tree.values('/kubepods/burstable'), 'cpu.shares=2');
  world.pods = [asking('1'), asking('500m')];
  await tiers.update();
  assert.equal(tree.values('/kubepods/burstable'), 'cpu.shares=1536');
  world.pods = [];
  await tiers.update();
  assert.equal(tree.values('/kubepods/burstable'), 'cpu.shares=2');
});

test('values of an earlier process stay until all sources are ready', async () => {
  const { tree, world, tiers } = setUp();
  tree.make('/kubepods/burstable');
  tree.write('/kubepods/burstable', [{ controller: 'cpu', file: 'cpu.shares', value: '4096' }]);
  world.complete = false;
  world.pods = [asking('1')];
  await tiers.make();
  assert.equal(tree.values('/kubepods/burstable'), 'cpu.shares=4096');
  world.complete = true;
  await tiers.update();
  assert.equal(tree.values('/kubepods/burstable'), 'cpu.shares=1024');
});

test('new tiers need not wait for the sources', async () => {
  const { tree, world, tiers } = setUp();
  world.complete = false;
  world.pods = [asking('1')];
  await tiers.make();
  assert.equal(tree.values('/kubepods/burstable'), 'cpu.shares=1024');
});

test('reserved memory: a tier that uses more already is limited to what it uses', async () => {
  const { tree, world, tiers } = setUp({ reservedMemoryPercent: 100n });
  await tiers.make();
  world.pods = [asking('1', '400')];
  tree.groups.get('/kubepods/besteffort')?.set('memory.usage_in_bytes', '700');
  tree.refuse = (path, { value }) => (path.endsWith('besteffort') && value === '600' ? 'in use' : undefined);
  await tiers.update();
  const limit = (tier: string): unknown => tree.read(`/kubepods/${tier}`, 'memory', 'memory.limit_in_bytes');
  assert.equal(limit('burstable'), '1000');
  assert.equal(limit('besteffort'), '700');
});

test('a refusal that has nothing to do with memory is an error', async () => {
  const { tree, tiers } = setUp({ reservedMemoryPercent: 100n });
  await tiers.make();
  tree.refuse = () => 'no';
  await assert.rejects(tiers.update(), /no/);
});

test('version 2 would kill to get below a limit, so the limit stays above the usage', async () => {
  const { tree, world, tiers } = setUp({ reservedMemoryPercent: 100n }, 2);
  await tiers.make();
  world.pods = [asking('1', '400')];
  tree.groups.get('/kubepods/besteffort')?.set('memory.current', '700');
  tree.refuse = (_, { value }) => (value === '600' ? assert.fail('would have killed') : undefined);
  await tiers.update();
  assert.equal(tree.read('/kubepods/besteffort', 'memory', 'memory.max'), '700');
});
