import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  cgroupPath,
  kubepodsCgroup,
  parseCgroupName,
  podCgroup,
  podUidOfCgroup,
  qosCgroup,
  sliceUnit,
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

test('a slice is named by all its parents, and none of them may be empty', () => {
  assert.equal(sliceUnit([]), '-.slice');
  assert.equal(sliceUnit(podCgroup('/', 'BestEffort', uid)), 'kubepods-besteffort-pod12_ab.slice');
  for (const name of [
    ['', 'a'],
    ['a', ''],
    ['a', '', 'b'],
  ]) {
    assert.throws(() => cgroupPath(name, 'systemd'), /invalid slice name: /);
  }
});

test('an operator names a cgroup by path, for systemd by its slice', () => {
  const cases = [
    ['/system.slice', ['system.slice'], ['system']],
    ['system', ['system'], ['system']],
    ['/a.slice/a-b.slice', ['a.slice', 'a-b.slice'], ['a', 'b']],
    ['/kube_reserved.slice', ['kube_reserved.slice'], ['kube-reserved']],
    ['-.slice', ['-.slice'], []],
    ['', [], []],
  ] as const;
  for (const [text, path, slice] of cases) {
    assert.deepEqual(parseCgroupName(text, 'cgroupfs'), path);
    assert.deepEqual(parseCgroupName(text, 'systemd'), slice);
  }
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
