import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../../base/ids.ts';
import type { Volume } from '../../gen/kubernetes/types.ts';
import { podPaths } from '../../model/pod-paths.ts';
import { MemoryFiles } from '../../testing/memory-files.ts';
import { emptyDir } from './empty-dir.ts';

const uid = podUid('uid-1');
const cache: Volume = { name: 'cache', emptyDir: {} };

function setUp() {
  const files = new MemoryFiles();
  const paths = podPaths('/var/lib/kubelet', '/var/log/pods');
  return { files, plugin: emptyDir(files, paths) };
}

test('is for emptyDir on disk alone', () => {
  const { plugin } = setUp();
  const handles = (volume: Volume): boolean => plugin.handles(volume);
  assert.equal(handles(cache), true);
  assert.equal(handles({ name: 'cache', emptyDir: { medium: '', sizeLimit: '1Gi' } }), true);
  assert.equal(handles({ name: 'cache', emptyDir: { medium: 'Memory' } }), false);
  assert.equal(handles({ name: 'cache', emptyDir: { medium: 'HugePages-2Mi' } }), false);
  assert.equal(handles({ name: 'cache', hostPath: { path: '/' } }), false);
});

test('makes a folder that every user of the pod may write to', async () => {
  const { files, plugin } = setUp();
  assert.deepEqual(await plugin.setUp(uid, cache), {
    hostPath: '/var/lib/kubelet/pods/uid-1/volumes/kubernetes.io~empty-dir/cache',
  });
  assert.deepEqual(files.tree('/var/lib/kubelet/pods/uid-1'), [
    '750 volumes',
    '755 volumes/kubernetes.io~empty-dir',
    '777 volumes/kubernetes.io~empty-dir/cache',
  ]);
});

test('setting up again keeps what is inside', async () => {
  const { files, plugin } = setUp();
  const { hostPath } = await plugin.setUp(uid, cache);
  await files.writeFile(`${hostPath}/kept`, 'x', 0o644);
  await plugin.setUp(uid, cache);
  assert.equal(await files.readText(`${hostPath}/kept`), 'x');
});

test('taking down removes it with all that is inside, and nothing else', async () => {
  const { files, plugin } = setUp();
  const { hostPath } = await plugin.setUp(uid, cache);
  await plugin.setUp(uid, { name: 'other', emptyDir: {} });
  await files.writeFile(`${hostPath}/gone`, 'x', 0o644);
  await plugin.tearDown(uid, cache);
  await plugin.tearDown(uid, cache);
  assert.deepEqual(files.tree('/var/lib/kubelet/pods/uid-1/volumes/kubernetes.io~empty-dir'), ['777 other']);
});

test('a failure comes through', async () => {
  const { files, plugin } = setUp();
  files.fault = (operation) => {
    throw new Error(`${operation}: disk is full`);
  };
  await assert.rejects(plugin.setUp(uid, cache), /makeFolder: disk is full/);
  await assert.rejects(async () => plugin.tearDown(uid, cache), /removeTree: disk is full/);
});
