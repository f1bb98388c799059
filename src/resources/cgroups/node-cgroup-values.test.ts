import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allPodsValues, reservedCgroups, type NodeCgroupSettings } from './node-cgroup-values.ts';

const settings: NodeCgroupSettings = {
  cgroupRoot: '/',
  cgroupDriver: 'cgroupfs',
  capacity: { cpu: '4', memory: '8Ki', pid: '1000', 'hugepages-2Mi': '4Mi' },
  reserved: { kube: { cpu: '500m', memory: '1Ki' }, system: { cpu: '1', pid: '100' } },
  evictionHard: {},
  enforced: ['pods'],
  systemReservedCgroup: '/system.slice',
  kubeReservedCgroup: '/podruntime/kube',
  memoryQos: false,
  hugePageSizes: ['2MB', '1GB'],
  cpus: '',
};
const pages = new Map([
  ['2MB', 4n << 20n],
  ['1GB', 0n],
]);
const noPages = new Map([
  ['2MB', 0n],
  ['1GB', 0n],
]);

test('all pods get what is left where reserves are enforced on them', () => {
  const values = { cpuShares: 2_560n, memoryBytes: 7_168n, pids: 900n, hugePages: pages };
  assert.deepEqual(allPodsValues(settings), values);
});

test('else they get the machine', () => {
  const values = { cpuShares: 4_096n, memoryBytes: 8_192n, pids: 1_000n, hugePages: pages };
  assert.deepEqual(allPodsValues({ ...settings, enforced: [] }), values);
  assert.deepEqual(allPodsValues({ ...settings, enforced: ['none'] }), values);
});

test('all CPUs are named, for daemons with reserves of compressible resources too', () => {
  const named = { ...settings, cpus: '0-3', enforced: ['kube-reserved', 'system-reserved-compressible'] };
  assert.equal(allPodsValues(named).cpus, '0-3');
  assert.deepEqual(
    reservedCgroups(named).map(({ values }) => values),
    [
      { cpuShares: 512n, memoryBytes: 1_024n, cpus: '0-3', hugePages: noPages },
      { cpuShares: 1_024n, cpus: '0-3', hugePages: noPages },
    ],
  );
});

test('reserves are enforced where that is asked for', () => {
  assert.deepEqual(reservedCgroups(settings), []);
  assert.deepEqual(reservedCgroups({ ...settings, enforced: ['pods', 'system-reserved', 'kube-reserved'] }), [
    {
      what: 'System Reserved',
      compressible: false,
      configured: '/system.slice',
      name: ['system.slice'],
      values: { cpuShares: 1_024n, pids: 100n, hugePages: noPages },
    },
    {
      what: 'Kube Reserved',
      compressible: false,
      configured: '/podruntime/kube',
      name: ['podruntime', 'kube'],
      values: { cpuShares: 512n, memoryBytes: 1_024n, hugePages: noPages },
    },
  ]);
});

test('with systemd a reserved cgroup is named by its slice, whatever stands before it', () => {
  const slices = { systemReservedCgroup: '/system.slice', kubeReservedCgroup: '/a/kube-daemons' };
  const enforced = ['system-reserved', 'kube-reserved'];
  const names = reservedCgroups({ ...settings, ...slices, cgroupDriver: 'systemd', enforced }).map(({ name }) => name);
  assert.deepEqual(names, [['system'], ['kube', 'daemons']]);
});

test('or only for compressible resources', () => {
  const [kube, ...others] = reservedCgroups({ ...settings, enforced: ['kube-reserved-compressible'] });
  assert.deepEqual(others, []);
  assert.deepEqual(kube?.values, { cpuShares: 512n, hugePages: noPages });
  assert.equal(kube.compressible, true);
});

test('a reserve that says nothing cannot be enforced', () => {
  const [system] = reservedCgroups({
    ...settings,
    enforced: ['system-reserved'],
    reserved: { kube: { cpu: '1' }, system: {} },
  });
  assert.equal(system?.problem, '["system.slice"] cgroup is not configured properly');
});

test('with memory QoS the reserve is protected too', () => {
  const [kube] = reservedCgroups({ ...settings, enforced: ['kube-reserved'], memoryQos: true });
  assert.deepEqual(kube?.values.unified, { 'memory.min': '1024' });
});
