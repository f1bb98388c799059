import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Volume } from '../gen/kubernetes/types.ts';
import { aContainer, aPod } from '../testing/pods.ts';
import { measuredVolumes } from './measured-volumes.ts';
import type { PodVolume } from './ports.ts';

test('what is measured, and what of it counts as the pod’s ephemeral storage', () => {
  const cases: readonly (readonly [Partial<Volume>, Partial<PodVolume> | undefined])[] = [
    [{ emptyDir: {} }, { kind: 'ephemeral' }],
    [{ emptyDir: { medium: 'Memory' } }, { kind: 'persistent' }],
    [{ configMap: { name: 'c' } }, { kind: 'ephemeral' }],
    [{ secret: { secretName: 's' } }, { kind: 'persistent' }],
    [{ projected: {} }, { kind: 'persistent' }],
    [{ nfs: { server: 's', path: '/' } }, { kind: 'persistent', origin: 'elsewhere' }],
    [{ csi: { driver: 'd' } }, { kind: 'persistent', origin: 'elsewhere' }],
    [
      { persistentVolumeClaim: { claimName: 'data' } },
      { kind: 'persistent', origin: 'elsewhere', pvc: { name: 'data', namespace: 'default' } },
    ],
    [{ ephemeral: {} }, { kind: 'persistent', origin: 'elsewhere', pvc: { name: 'web-v', namespace: 'default' } }],
    [{ hostPath: { path: '/' } }, undefined],
    [{ image: {} }, undefined],
  ];
  for (const [volume, expected] of cases) {
    const pod = aPod({ spec: { volumes: [{ name: 'v', ...volume }] } });
    const measured = measuredVolumes(pod, new Map([['v', { hostPath: '/there' }]]));
    assert.deepEqual(measured, expected === undefined ? [] : [{ name: 'v', path: '/there', ...expected }]);
    assert.deepEqual(measuredVolumes(pod, new Map()), []);
  }
});

test('a claim to a path of the node is not measured', () => {
  const pod = aPod({ spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] } });
  assert.deepEqual(measuredVolumes(pod, new Map([['v', { hostPath: '/there', isOfNode: true }]])), []);
});

test('a claim to a device is measured as a device, of the node though it be', () => {
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }];
  const containers = [aContainer('main', { volumeDevices: [{ name: 'v', devicePath: '/dev/x' }] })];
  const pod = aPod({ spec: { volumes, containers } });
  const measured = measuredVolumes(pod, new Map([['v', { hostPath: '/dev/loop0', isOfNode: true }]]));
  const pvc = { name: 'data', namespace: 'default' };
  assert.deepEqual(measured, [{ name: 'v', path: '/dev/loop0', kind: 'persistent', origin: 'device', pvc }]);
});
