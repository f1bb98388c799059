import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PersistentVolumeClaim, Volume } from '../../gen/kubernetes/types.ts';
import { aClaim, aPersistentVolume } from '../../testing/persistent-volumes.ts';
import { aContainer, aPod } from '../../testing/pods.ts';
import { sourceOf } from './claimed-volume.ts';
import {
  checkBinding,
  checkClaim,
  checkMode,
  checkNodeAffinity,
  checkOwner,
  claimedVolume,
  claimReference,
} from './compute-claim.ts';

const pod = aPod();

test('which volumes are claims, and to what', () => {
  const rows: readonly (readonly [Volume, ReturnType<typeof claimReference>])[] = [
    [
      { name: 'v', persistentVolumeClaim: { claimName: 'data' } },
      { name: 'data', readOnly: false, isEphemeral: false },
    ],
    [
      { name: 'v', persistentVolumeClaim: { claimName: 'data', readOnly: true } },
      { name: 'data', readOnly: true, isEphemeral: false },
    ],
    [
      { name: 'v', ephemeral: { volumeClaimTemplate: { spec: {} } } },
      { name: 'web-v', readOnly: false, isEphemeral: true },
    ],
    [{ name: 'v', emptyDir: {} }, undefined],
  ];
  for (const [volume, expected] of rows) assert.deepEqual(claimReference(pod, volume), expected);
});

describe('a claim', () => {
  const deleted = { deletionTimestamp: '2026-11-15T00:00:00Z' };
  const rows: readonly (readonly [string, Partial<PersistentVolumeClaim>, ReturnType<typeof checkClaim>])[] = [
    ['bound', {}, { volumeName: 'pv-data' }],
    ['pending', { status: { phase: 'Pending' } }, { problem: 'PVC is not bound' }],
    ['lost', { status: { phase: 'Lost' } }, { problem: 'PVC is not bound' }],
    ['without a status', { status: {} }, { problem: 'PVC is not bound' }],
    ['bound to nothing', { spec: {} }, { problem: 'PVC has empty pvc.Spec.VolumeName' }],
    ['being deleted', { metadata: deleted }, { problem: 'PVC is being deleted' }],
    [
      'being deleted, but protected',
      { metadata: { ...deleted, finalizers: ['other', 'kubernetes.io/pvc-protection'] } },
      { volumeName: 'pv-data' },
    ],
  ];
  for (const [name, more, expected] of rows) {
    test(name, () => assert.deepEqual(checkClaim(aClaim('data', more)), expected));
  }

  test('bound to an invalid name is refused: it would lead into another folder', () => {
    const outcome = checkClaim(aClaim('data', { spec: { volumeName: '../../etc' } }));
    assert.match('problem' in outcome ? outcome.problem : '', /^PVC has an invalid pvc.Spec.VolumeName: /);
  });
});

test('a claim that lives with a pod is of that pod', () => {
  const owner = (uid: string, controller?: boolean) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    name: 'web',
    uid,
    ...(controller !== undefined && { controller }),
  });
  const owned = (...ownerReferences: readonly ReturnType<typeof owner>[]) =>
    checkOwner(aClaim('web-v', { metadata: { ownerReferences } }), 'web-v', pod);
  const refusal = { problem: 'PVC default/web-v was not created for pod default/web (pod is not owner)' };
  assert.equal(owned(owner('uid-1', true)), undefined);
  assert.equal(owned(owner('other'), owner('uid-1', true)), undefined);
  assert.deepEqual(owned(owner('uid-1')), refusal);
  assert.deepEqual(owned(owner('other', true)), refusal);
  assert.deepEqual(owned(), refusal);
});

test('a claim and its volume name each other', () => {
  const bound = (claimRef: { readonly uid?: string } | undefined, uid: string | undefined = 'uid-of-data') => {
    const { claimRef: _, ...spec } = aPersistentVolume('data').spec ?? {};
    const volume = { spec: { ...spec, ...(claimRef && { claimRef }) } };
    return checkBinding('pv-data', volume, aClaim('data', { metadata: { ...(uid !== '' && { uid }) } }))?.problem;
  };
  assert.equal(bound({ uid: 'uid-of-data' }), undefined);
  assert.equal(
    bound(undefined),
    'found PV object pv-data but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim',
  );
  assert.equal(
    bound({ uid: 'older' }),
    'found PV object pv-data but its pv.Spec.ClaimRef.UID older does not point to claim.UID uid-of-data',
  );
  assert.match(bound({}, '') ?? '', /does not point to claim.UID $/, 'nothing is not the same as nothing');
});

test('a Block volume must be used as a device, a Filesystem volume as a mount', () => {
  const spec = (uses: Parameters<typeof aContainer>[1]) => aPod({ spec: { containers: [aContainer('c', uses)] } }).spec;
  const mount = spec({ volumeMounts: [{ name: 'v', mountPath: '/v' }] });
  const device = spec({ volumeDevices: [{ name: 'v', devicePath: '/dev/v' }] });
  assert.equal(checkMode(mount, 'v', 'Filesystem'), undefined);
  assert.equal(checkMode(device, 'v', 'Block'), undefined);
  assert.equal(checkMode(device, 'w', 'Filesystem'), undefined);
  assert.deepEqual(checkMode(mount, 'v', 'Block'), {
    problem: 'volume v has volumeMode Block, but is specified in volumeMounts',
  });
  assert.deepEqual(checkMode(device, 'v', 'Filesystem'), {
    problem: 'volume v has volumeMode Filesystem, but is specified in volumeDevices',
  });
});

test('a volume of another node', () => {
  const on = (...values: readonly string[]) =>
    aPersistentVolume('data', {
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values }] }],
        },
      },
    });
  const labels = { 'kubernetes.io/hostname': 'n1' };
  assert.equal(checkNodeAffinity(on('n1', 'n2'), labels), undefined);
  assert.equal(checkNodeAffinity(aPersistentVolume('data'), {}), undefined);
  assert.deepEqual(checkNodeAffinity(on('n2'), labels), { problem: 'no matching NodeSelectorTerms' });
});

test('what is behind a volume', () => {
  const csi = { driver: 'd', volumeHandle: 'h' };
  assert.deepEqual(sourceOf({ hostPath: { path: '/a' } }), { kind: 'hostPath', hostPath: { path: '/a' } });
  assert.deepEqual(sourceOf({ local: { path: '/a' } }), { kind: 'local', local: { path: '/a' } });
  assert.deepEqual(sourceOf({ nfs: { server: 's', path: '/' } }), { kind: 'nfs', nfs: { server: 's', path: '/' } });
  assert.deepEqual(sourceOf({ csi, capacity: { storage: '1Gi' } }), { kind: 'csi', csi });
  assert.deepEqual(sourceOf({ capacity: { storage: '1Gi' }, iscsi: { iqn: 'i', lun: 0, targetPortal: 't' } }), {
    kind: 'other',
    field: 'iscsi',
  });
  assert.deepEqual(sourceOf({ accessModes: [] }), { kind: 'other', field: 'none' });
});

test('what a pod gets of its claim', () => {
  const reference = { name: 'data', readOnly: true, isEphemeral: false };
  const claimed = (...args: Parameters<typeof aPersistentVolume>) => {
    const { objects: _, ...rest } = claimedVolume('pv-data', aClaim('data'), aPersistentVolume(...args), reference);
    return rest;
  };
  const local = { path: '/a' };
  const plain = {
    name: 'pv-data',
    source: { kind: 'local', local },
    mode: 'Filesystem',
    readOnly: true,
    accessModes: ['ReadWriteOnce'],
    mountOptions: [],
  };
  assert.deepEqual(claimed('data', { local }), plain);
  assert.deepEqual(claimed('data', { local, volumeMode: 'Block', mountOptions: ['hard', ''] }), {
    ...plain,
    mode: 'Block',
    mountOptions: ['hard'],
  });
  const annotations = { 'volume.beta.kubernetes.io/mount-options': 'a,b', 'pv.beta.kubernetes.io/gid': '1234' };
  assert.deepEqual(claimed('data', { local, mountOptions: ['c'] }, annotations), {
    ...plain,
    mountOptions: ['a', 'b'],
    gid: 1234,
  });
  assert.deepEqual(claimed('data', { local }, { 'pv.beta.kubernetes.io/gid': 'staff' }), plain);
});
