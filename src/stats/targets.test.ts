import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { anInstance, aPod, aSandbox, exited, observedPod } from '../testing/pods.ts';
import { testPlaces } from '../testing/stats-world.ts';
import type { SeenPod } from './ports.ts';
import { PodTargets, systemTargets, tierCgroups, type PodTarget } from './targets.ts';

const pod = aPod({ uid: 'u1', name: 'web' });

const targetsOf = (pods: readonly SeenPod[], places = testPlaces): readonly PodTarget[] =>
  new PodTargets({ all: () => pods }, places).all();

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

  test('one that has not changed is the same as before, and one that has is not', () => {
    const first: SeenPod = { pod, startTime: undefined, seen: observedPod([aSandbox('s1', { createdAt: 5 })], []) };
    let now = [first];
    const targets = new PodTargets({ all: () => now }, testPlaces);
    const [before] = targets.all();
    now = [{ ...first }];
    assert.equal(targets.all()[0], before);
    now = [{ ...first, startTime: '2026-11-15T08:00:00Z' }];
    assert.equal(targets.all()[0]?.startedAt, Date.UTC(2026, 10, 15, 8));
    now = [{ ...first, pod: aPod({ uid: 'u1', name: 'other' }) }];
    assert.equal(targets.all()[0]?.name, 'other');
    now = [{ ...first, seen: observedPod([aSandbox('s2', { createdAt: 6 })], []) }];
    assert.equal(targets.all()[0]?.sandbox?.id, 's2');
  });

  test('slices with systemd, and none without cgroups per QoS', () => {
    const seen = observedPod([aSandbox('s1', { network: 'node' })], []);
    const cgroupOf = (more: object) =>
      targetsOf([{ pod, startTime: undefined, seen }], { ...testPlaces, ...more })[0]?.cgroup;
    assert.equal(
      cgroupOf({ cgroupDriver: 'systemd' }),
      '/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podu1.slice',
    );
    assert.equal(cgroupOf({ cgroupsPerQos: false }), undefined);
    assert.equal(targetsOf([{ pod, startTime: undefined, seen }])[0]?.hostNetwork, true);
  });
});

test('services that somebody named, and all pods', () => {
  assert.deepEqual(systemTargets(testPlaces), [{ name: 'pods', cgroup: '/kubepods' }]);
  const named = { kubeletCgroups: 'kubelet.slice', runtimeCgroups: '/system.slice/containerd.service/' };
  assert.deepEqual(systemTargets({ ...testPlaces, ...named, systemCgroups: '/a/../..', cgroupsPerQos: false }), [
    { name: 'kubelet', cgroup: '/kubelet.slice' },
    { name: 'runtime', cgroup: '/system.slice/containerd.service' },
  ]);
  assert.deepEqual(tierCgroups(testPlaces), ['/kubepods/burstable', '/kubepods/besteffort']);
  assert.deepEqual(tierCgroups({ ...testPlaces, cgroupsPerQos: false }), []);
});
