import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../../base/ids.ts';
import type { Volume } from '../../gen/kubernetes/types.ts';
import { hostPath } from './host-path.ts';

const uid = podUid('uid-1');

test('is for the plain type alone', () => {
  const plugin = hostPath();
  const handles = (volume: Volume): boolean => plugin.handles(volume);
  assert.equal(handles({ name: 'v', hostPath: { path: '/etc' } }), true);
  assert.equal(handles({ name: 'v', hostPath: { path: '/etc', type: '' } }), true);
  for (const type of [
    'Directory',
    'DirectoryOrCreate',
    'File',
    'FileOrCreate',
    'Socket',
    'CharDevice',
    'BlockDevice',
  ]) {
    assert.equal(handles({ name: 'v', hostPath: { path: '/etc', type } }), false, type);
  }
  assert.equal(handles({ name: 'v', emptyDir: {} }), false);
});

test('is the path of the node as it is; nothing is made and nothing is removed', async () => {
  const plugin = hostPath();
  const volume: Volume = { name: 'v', hostPath: { path: '/no/such/path' } };
  assert.deepEqual(await plugin.setUp(uid, volume), { hostPath: '/no/such/path' });
  await plugin.tearDown(uid, volume);
  await plugin.tearDown(uid, volume);
});
