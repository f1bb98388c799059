import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cgroupPath, kubepodsCgroup, podCgroup, qosCgroup, sandboxCgroupParent } from './cgroup-names.ts';

const uid = '12-ab';

test('paths of both drivers', () => {
  const cases = [
    [kubepodsCgroup('/'), '/kubepods', '/kubepods.slice'],
    [qosCgroup('/', 'Burstable'), '/kubepods/burstable', '/kubepods.slice/kubepods-burstable.slice'],
    [qosCgroup('', 'BestEffort'), '/kubepods/besteffort', '/kubepods.slice/kubepods-besteffort.slice'],
    [podCgroup('/', 'Guaranteed', uid), '/kubepods/pod12-ab', '/kubepods.slice/kubepods-pod12_ab.slice'],
    [
      podCgroup('/', 'Burstable', uid),
      '/kubepods/burstable/pod12-ab',
      '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod12_ab.slice',
    ],
    [podCgroup('/my/root', 'Guaranteed', uid), '/my/root/kubepods/pod12-ab', undefined],
  ] as const;
  for (const [name, plain, slices] of cases) {
    assert.equal(cgroupPath(name, 'cgroupfs'), plain);
    if (slices !== undefined) assert.equal(cgroupPath(name, 'systemd'), slices);
  }
});

test('below a configured root the slices carry its name', () => {
  const name = kubepodsCgroup('/box');
  assert.equal(cgroupPath(name, 'systemd'), '/box.slice/box-kubepods.slice');
});

test('the runtime gets a path, or for systemd the unit alone', () => {
  const name = podCgroup('/', 'BestEffort', uid);
  assert.equal(sandboxCgroupParent(name, 'cgroupfs'), '/kubepods/besteffort/pod12-ab');
  assert.equal(sandboxCgroupParent(name, 'systemd'), 'kubepods-besteffort-pod12_ab.slice');
});
