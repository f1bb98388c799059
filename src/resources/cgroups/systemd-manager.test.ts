import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CgroupVersion } from '../../model/cgroup-values.ts';
import { FakeSystemd } from '../../testing/fake-systemd.ts';
import { MemoryCgroupTree } from '../../testing/memory-cgroup-tree.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { CgroupWriter } from './cgroup-writer.ts';
import { SystemdManager } from './systemd-manager.ts';

const controllers = new Set(['cpu', 'cpuset', 'memory', 'pids', 'hugetlb']);
const pod = ['kubepods', 'burstable', 'poda-b'];
const unit = 'kubepods-burstable-poda_b.slice';
const path = `/kubepods.slice/kubepods-burstable.slice/${unit}`;

function setUp(version: CgroupVersion = 2) {
  const tree = new MemoryCgroupTree();
  const units = new FakeSystemd(tree);
  const log = new MemoryLog();
  const writer = new CgroupWriter({ log, tree, version, controllers });
  return { tree, units, manager: new SystemdManager({ tree, units, writer, version }) };
}

const calls = ({ calls: all }: FakeSystemd): readonly string[] => all.map((call) => `${call.verb} ${call.unit}`);

test('a slice is started with what never changes, then gets its values: as properties, and behind them as files', async () => {
  const { tree, units, manager } = setUp();
  const values = { cpuShares: 125n, cpuQuotaUs: 12_300n, cpuPeriodUs: 100_000n, hugePages: new Map([['2MB', 0n]]) };
  await manager.create(pod, values);
  assert.deepEqual(units.calls, [
    {
      verb: 'startTransientUnit',
      unit,
      properties: [
        { name: 'Description', value: { type: 's', value: `libcontainer container ${unit}` } },
        { name: 'Wants', value: { type: 'as', value: ['kubepods-burstable.slice'] } },
        { name: 'MemoryAccounting', value: { type: 'b', value: true } },
        { name: 'CPUAccounting', value: { type: 'b', value: true } },
        { name: 'IOAccounting', value: { type: 'b', value: true } },
        { name: 'TasksAccounting', value: { type: 'b', value: true } },
        { name: 'DefaultDependencies', value: { type: 'b', value: false } },
      ],
    },
    {
      verb: 'setUnitProperties',
      unit,
      properties: [
        { name: 'CPUWeight', value: { type: 't', value: 5n } },
        { name: 'CPUQuotaPeriodUSec', value: { type: 't', value: 100_000n } },
        { name: 'CPUQuotaPerSecUSec', value: { type: 't', value: 130_000n } },
      ],
    },
  ]);
  assert.equal(tree.values(path), 'cpu.weight=5 cpu.max=12300 100000 hugetlb.2MB.max=0 hugetlb.2MB.rsvd.max=0');
});

test('version 1 has the old names', async () => {
  const { tree, units, manager } = setUp(1);
  await manager.create(['kubepods'], { cpuShares: 2n });
  const [start, set] = units.calls;
  assert.deepEqual(start?.properties.find(({ name }) => name === 'Wants')?.value.value, ['-.slice']);
  assert.ok(start?.properties.some(({ name }) => name === 'BlockIOAccounting'));
  assert.deepEqual(set?.properties, [{ name: 'CPUShares', value: { type: 't', value: 2n } }]);
  assert.equal(tree.values('/kubepods.slice'), 'cpu.shares=2');
});

test('a slice that is there keeps its first properties and gets the values', async () => {
  const { tree, units, manager } = setUp();
  await manager.create(pod, { cpuShares: 2n });
  await manager.create(pod, { cpuShares: 1024n });
  assert.equal(tree.values(path), 'cpu.weight=39');
  assert.equal(units.slices.get(unit)?.get('CPUWeight'), 39n);
});

test('values of which systemd knows nothing are files alone', async () => {
  const { tree, units, manager } = setUp();
  await manager.create(pod, {});
  units.calls.length = 0;
  await manager.update(pod, { hugePages: new Map([['2MB', 5n]]) });
  assert.deepEqual(units.calls, []);
  assert.equal(tree.read(path, 'hugetlb', 'hugetlb.2MB.max'), '5');
});

test('files are not written where systemd refuses the properties', async () => {
  const { tree, units, manager } = setUp();
  await manager.create(pod, { pids: 5n });
  units.fault = () => ({ kind: 'refused', message: 'unable to set unit properties: no' });
  await assert.rejects(manager.update(pod, { pids: 6n }), /unable to set unit properties: no/);
  assert.equal(tree.values(path), 'pids.max=5');
});

test('a slice whose cgroup in systemd’s own tree was removed by another program is begun again', async () => {
  const { tree, units, manager } = setUp(1);
  await manager.create(pod, {});
  const missing = { what: 'paths', names: [`/sys/fs/cgroup/systemd${path}`] } as const;
  tree.missing = () => (calls(units).includes(`stopUnit ${unit}`) ? undefined : missing);
  units.calls.length = 0;
  await manager.create(pod, { pids: 5n });
  const start = `startTransientUnit ${unit}`;
  assert.deepEqual(calls(units), [start, `stopUnit ${unit}`, start, `setUnitProperties ${unit}`]);
  assert.equal(tree.values(path), 'pids.max=5');
});

test('what still runs is killed before systemd is asked to stop the slice', async () => {
  const { tree, units, manager } = setUp();
  await manager.create(pod, {});
  tree.make(`${path}/cri-1.scope`);
  tree.processes.set(`${path}/cri-1.scope`, [41]);
  units.calls.length = 0;
  units.fault = () => {
    assert.equal(tree.processes.size, 0);
    return undefined;
  };
  assert.deepEqual(await manager.destroy(pod), { removed: true, processes: [41] });
  assert.deepEqual(calls(units), [`stopUnit ${unit}`]);
  assert.ok(!tree.groups.has(path));
  assert.ok(!units.slices.has(unit));
});

test('a process that cannot be killed keeps the slice', async () => {
  const { tree, units, manager } = setUp();
  await manager.create(pod, {});
  tree.processes.set(path, [7]);
  tree.immortal.add(7);
  assert.deepEqual(await manager.destroy(pod), { removed: false, busy: [path], processes: [] });
  assert.ok(units.slices.has(unit));
});

test('a removal that systemd does not answer is tried again, and leaves nothing', async () => {
  for (const done of [true, false]) {
    const { tree, units, manager } = setUp();
    await manager.create(pod, {});
    units.fault = ({ verb }) => (verb === 'stopUnit' ? { kind: 'busLost', done } : undefined);
    await assert.rejects(manager.destroy(pod), { kind: 'unavailable' });
    units.fault = () => undefined;
    assert.equal((await manager.destroy(pod)).removed, true);
    assert.ok(!tree.groups.has(path) && !units.slices.has(unit));
  }
});

test('slices below, not scopes, services or what only looks like them', async () => {
  const { tree, manager } = setUp();
  await manager.create(pod, {});
  await manager.create(['kubepods', 'podx'], {});
  for (const other of ['cri-1.scope', 'kubelet.service', 'other-podx.slice', 'kubepods-a-b.slice', 'plain']) {
    tree.make(`/kubepods.slice/${other}`);
  }
  assert.deepEqual(manager.children(['kubepods']), [
    ['kubepods', 'burstable'],
    ['kubepods', 'podx'],
  ]);
  assert.deepEqual(manager.children(['kubepods', 'burstable']), [pod]);
});

test('a name that would be read as that of another is refused', async () => {
  const { units, manager } = setUp();
  for (const part of ['poda_b', 'pod/../b']) {
    const message = `invalid character in component ["${part}"] of CgroupName`;
    await assert.rejects(manager.create(['kubepods', part], {}), { kind: 'invalid', message });
  }
  assert.deepEqual(units.calls, []);
});
