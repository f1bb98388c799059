import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  cgroupPath,
  kubepodsCgroup,
  podCgroup,
  podUidOfCgroup,
  qosCgroup,
  sandboxCgroupParent,
} from './cgroup-names.ts';

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

test('the path of a cgroup says whose pod it is, whatever lies below it', () => {
  const cases = [
    [cgroupPath(podCgroup('/', 'Burstable', uid), 'cgroupfs'), uid],
    [`${cgroupPath(podCgroup('/my/root', 'Guaranteed', uid), 'cgroupfs')}/c0ffee`, uid],
    [cgroupPath(podCgroup('/', 'BestEffort', uid), 'systemd'), uid],
    [`${cgroupPath(podCgroup('/box', 'Guaranteed', uid), 'systemd')}/cri-containerd-c0ffee.scope`, uid],
    ['/kubepods/burstable', undefined],
    ['/podruntime/runtime', undefined],
    ['/system.slice/my-pod1.slice', undefined],
  ] as const;
  for (const [path, expected] of cases) assert.equal(podUidOfCgroup(path), expected, path);
});
