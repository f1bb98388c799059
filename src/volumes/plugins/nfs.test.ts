import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NFSVolumeSource } from '../../gen/kubernetes/types.ts';
import { aClaimedVolume } from '../../testing/persistent-volumes.ts';
import { aPod } from '../../testing/pods.ts';
import { nfsMountSpec } from './nfs.ts';

const claim = { name: 'v', persistentVolumeClaim: { claimName: 'data' } };
const claimed = (nfs: NFSVolumeSource, more: Parameters<typeof aClaimedVolume>[1] = {}) =>
  nfsMountSpec({ pod: aPod(), volume: claim, claimed: aClaimedVolume({ kind: 'nfs', nfs }, more) });
const inline = (nfs: NFSVolumeSource) => nfsMountSpec({ pod: aPod(), volume: { name: 'v', nfs } });

test('what is mounted, and how', () => {
  const server = { server: 'files.example.com', path: '/export/a b' };
  assert.deepEqual(inline(server), {
    name: 'v',
    source: 'files.example.com:/export/a b',
    options: [],
    readOnly: false,
  });
  assert.deepEqual(inline({ server: '192.0.2.1', path: '/', readOnly: true }), {
    name: 'v',
    source: '192.0.2.1:/',
    options: ['ro'],
    readOnly: true,
  });
  assert.deepEqual(claimed({ server: 'fd00::1', path: '/e' }, { readOnly: true, mountOptions: ['nfsvers=4.1'] }), {
    name: 'pv-data',
    source: '[fd00::1]:/e',
    options: ['nfsvers=4.1', 'ro'],
    readOnly: true,
  });
  // The pod says whether it only reads.
  assert.equal(claimed({ ...server, readOnly: true }).readOnly, false);
});

test('an invalid server or path never becomes an argument of mount(8)', () => {
  for (const server of ['', '-o', '--bind', 'a b', 'a,b', 'a/b', 'a\n']) {
    assert.throws(() => inline({ server, path: '/' }), { kind: 'invalid', message: /^invalid nfs server / });
  }
  for (const path of ['', 'relative', '-x', '/a\n', '/\0']) {
    assert.throws(() => inline({ server: 's', path }), { kind: 'invalid', message: /^invalid nfs path / });
  }
  assert.throws(() => claimed({ server: 's', path: '/' }, { mountOptions: ['remount'] }), /is not allowed/);
});

test('no device, and no second volume in the same folder', () => {
  assert.throws(() => claimed({ server: 's', path: '/' }, { mode: 'Block' }), { kind: 'unsupported' });
  const nfs = { server: 's', path: '/' };
  const pod = aPod({ spec: { volumes: [{ name: 'pv-data', nfs }, claim] } });
  const twin = { pod, volume: claim, claimed: aClaimedVolume({ kind: 'nfs', nfs }) };
  assert.throws(() => nfsMountSpec(twin), { kind: 'conflict' });
});
