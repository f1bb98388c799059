import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { anInstance, aPod, aSandbox, exited, observedPod } from '../testing/pods.ts';
import { testLayout } from '../testing/stats-world.ts';
import type { SeenPod } from './ports.ts';
import { podTargets, systemTargets, tierCgroups, type PodTarget } from './targets.ts';

const pod = aPod({ uid: 'u1', name: 'web' });

const targetsOf = (pods: readonly SeenPod[], cgroupLayout = testLayout): readonly PodTarget[] =>
  podTargets({ all: () => pods }, cgroupLayout);

describe('pods', () => {
  test('containers that run, of one name the newest', () => {
    const seen = observedPod(
      [aSandbox('s2', { createdAt: 2_000 }), aSandbox('s1', { state: 'notReady' })],
      [
        anInstance('main', { id: 'c3', createdAt: 3_000 }),
        anInstance('main', { id: 'c2', createdAt: 2_000 }),
        anInstance('done', { id: 'c1', ...exited(0) }),
      ],
    );
    const [target] = targetsOf([{ pod, startTime: '2026-11-15T08:00:00Z', seen }]);
    assert.equal(target?.cgroup, '/kubepods/besteffort/podu1');
    assert.equal(target?.startedAt, Date.UTC(2026, 10, 15, 8));
    assert.deepEqual(target?.sandbox, { id: 's2', createdAt: 2_000 });
    assert.deepEqual(
      target?.containers.map(({ id }) => id),
      ['c3'],
    );
    assert.equal(target?.hostNetwork, false);
  });

  test('a pod of which nothing runs uses nothing; one with a sandbox does', () => {
    const over = observedPod([aSandbox('s1', { state: 'notReady' })], [anInstance('main', { id: 'c1', ...exited(0) })]);
    assert.deepEqual(targetsOf([{ pod, startTime: undefined, seen: over }]), []);
    const waiting = observedPod([aSandbox('s1', { createdAt: 5 })], []);
    const [target] = targetsOf([{ pod, startTime: 'no time', seen: waiting }]);
    assert.equal(target?.startedAt, 5);
    assert.deepEqual(target?.containers, []);
  });

  test('slices with systemd, and none without cgroups per QoS', () => {
    const seen = observedPod([aSandbox('s1', { network: 'node' })], []);
    const cgroupOf = (more: object) =>
      targetsOf([{ pod, startTime: undefined, seen }], { ...testLayout, ...more })[0]?.cgroup;
    assert.equal(
      cgroupOf({ cgroupDriver: 'systemd' }),
      '/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podu1.slice',
    );
    assert.equal(cgroupOf({ cgroupsPerQos: false }), undefined);
    assert.equal(targetsOf([{ pod, startTime: undefined, seen }])[0]?.hostNetwork, true);
  });
});

test('services that are configured, and all pods', () => {
  assert.deepEqual(systemTargets(testLayout), [{ name: 'pods', cgroup: '/kubepods' }]);
  const named = { kubeletCgroups: 'kubelet.slice', runtimeCgroups: '/system.slice/containerd.service/' };
  assert.deepEqual(systemTargets({ ...testLayout, ...named, systemCgroups: '/a/../..', cgroupsPerQos: false }), [
    { name: 'kubelet', cgroup: '/kubelet.slice' },
    { name: 'runtime', cgroup: '/system.slice/containerd.service' },
  ]);
  assert.deepEqual(tierCgroups(testLayout), ['/kubepods/burstable', '/kubepods/besteffort']);
  assert.deepEqual(tierCgroups({ ...testLayout, cgroupsPerQos: false }), []);
});
