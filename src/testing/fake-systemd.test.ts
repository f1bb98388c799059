import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isKind } from '../base/errors.ts';
import { FakeLogind } from './fake-logind.ts';
import { FakeSystemd } from './fake-systemd.ts';
import { MemoryCgroupTree } from './memory-cgroup-tree.ts';

const weight = (value: bigint) => ({ name: 'CPUWeight', value: { type: 't' as const, value } });

test('slices begin with those around them, keep their first properties, and end with those below them', async () => {
  const tree = new MemoryCgroupTree();
  const systemd = new FakeSystemd(tree);
  assert.equal(await systemd.startTransientUnit('a-b-c.slice', [weight(5n)]), 'started');
  assert.equal(await systemd.startTransientUnit('a-b-c.slice', [weight(6n)]), 'existed');
  assert.deepEqual([...systemd.slices.keys()], ['a.slice', 'a-b.slice', 'a-b-c.slice']);
  assert.ok(tree.groups.has('/a.slice/a-b.slice/a-b-c.slice'));
  assert.equal(systemd.slices.get('a-b-c.slice')?.get('CPUWeight'), 5n);
  await systemd.setUnitProperties('a-b-c.slice', [weight(7n)]);
  assert.equal(systemd.slices.get('a-b-c.slice')?.get('CPUWeight'), 7n);
  await systemd.stopUnit('a-b.slice');
  await systemd.stopUnit('a-b.slice');
  assert.deepEqual([...systemd.slices.keys()], ['a.slice']);
});

test('properties of a slice that is not active are kept, and win over those it is made with', async () => {
  const tree = new MemoryCgroupTree();
  const systemd = new FakeSystemd(tree);
  await systemd.setUnitProperties('a.slice', [weight(5n)]);
  assert.deepEqual([systemd.slices.size, tree.groups.has('/a.slice')], [0, true]);
  assert.equal(await systemd.startTransientUnit('a.slice', [weight(6n)]), 'started');
  assert.equal(systemd.slices.get('a.slice')?.get('CPUWeight'), 5n);
  assert.equal(tree.groups.has('/a.slice'), true);
});

test('a cgroup below a slice that ends holds its own up', async () => {
  const tree = new MemoryCgroupTree();
  const systemd = new FakeSystemd(tree);
  await systemd.startTransientUnit('a.slice', []);
  tree.make('/a.slice/scope');
  await systemd.stopUnit('a.slice');
  assert.ok(tree.groups.has('/a.slice'));
});

test('a fault says whether the work was done', async () => {
  for (const done of [true, false]) {
    const systemd = new FakeSystemd();
    systemd.fault = () => ({ kind: 'busLost', done });
    await assert.rejects(systemd.startTransientUnit('a.slice', []), (error) => isKind(error, 'unavailable'));
    assert.equal(systemd.slices.has('a.slice'), done);
  }
  const systemd = new FakeSystemd();
  systemd.fault = ({ verb }) => (verb === 'startTransientUnit' ? { kind: 'result', result: 'failed' } : undefined);
  await assert.rejects(
    systemd.startTransientUnit('a.slice', []),
    /^TubeletError: error creating systemd unit `a\.slice`: got `failed`$/,
  );
  assert.deepEqual([...systemd.slices.keys()], []);
});

test('locks are held until they are released, watches until the bus is lost', async () => {
  const logind = new FakeLogind();
  const seen: boolean[] = [];
  const lock = await logind.inhibitShutdown('kubelet', 'why');
  const { lost } = await logind.watchShutdown((active) => void seen.push(active), new AbortController().signal);
  logind.prepareForShutdown(true);
  logind.prepareForShutdown(false);
  logind.loseBus();
  await lost;
  logind.prepareForShutdown(true);
  assert.deepEqual([seen, logind.locks.size, logind.watchers], [[true, false], 1, 0]);
  lock.release();
  lock.release();
  assert.equal(logind.locks.size, 0);
});

test('a new configuration counts after a reload', async () => {
  const logind = new FakeLogind();
  assert.equal(await logind.inhibitDelayMaxMs(), 5_000);
  logind.configuredDelayMaxMs = () => 30_000;
  assert.equal(await logind.inhibitDelayMaxMs(), 5_000);
  await logind.reload();
  assert.equal(await logind.inhibitDelayMaxMs(), 30_000);
});
