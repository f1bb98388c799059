import assert from 'node:assert/strict';
import { mkdir, mkdtemp, open, readdir, readlink, rm, symlink, writeFile, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { HostBlockDevices } from './block-devices.ts';

const never = new AbortController().signal;
const devices = new HostBlockDevices();
let root = '';
before(async () => void (root = await mkdtemp(join(tmpdir(), 'block-devices-'))));
after(() => rm(root, { recursive: true }));

test('links are made, replaced, and removed; other files stay', async () => {
  const path = join(root, 'link');
  await devices.link(path, '/dev/one');
  await devices.link(path, '/dev/one');
  await devices.link(path, '/dev/two');
  assert.equal(await readlink(path), '/dev/two');
  await devices.unlink(path);
  await devices.unlink(path);
  assert.deepEqual(await readdir(root), []);
  await writeFile(path, 'data');
  await assert.rejects(devices.unlink(path), { kind: 'conflict' });
  await assert.rejects(devices.link(path, '/dev/one'));
  assert.deepEqual(await readdir(root), ['link']);
});

test('only an empty file is a placeholder', async () => {
  const path = join(root, 'place');
  await devices.removePlaceholder(path);
  await writeFile(path, '');
  await devices.removePlaceholder(path);
  await writeFile(path, 'data');
  await assert.rejects(devices.removePlaceholder(path), { kind: 'conflict' });
  const folder = join(root, 'folder');
  await mkdir(folder);
  await assert.rejects(devices.removePlaceholder(folder), { kind: 'conflict' });
  const link = join(root, 'to-place');
  await symlink(path, link);
  await assert.rejects(devices.removePlaceholder(link), { kind: 'conflict' });
});

test('only block devices are held open', async () => {
  await assert.rejects(devices.hold('/dev/null', never), {
    kind: 'invalid',
    message: '/dev/null is not a block device',
  });
  await assert.rejects(devices.hold(join(root, 'none'), never), { kind: 'notFound' });
  await assert.rejects(devices.hold('/dev/null', AbortSignal.abort(new Error('given up'))), /given up/);
  await devices.release('/dev/null');
});

test('a device that does not answer is opened once, and few of them at one time', async () => {
  const opened: string[] = [];
  let answer: (file: FileHandle) => void = () => undefined;
  const slow = new HostBlockDevices({
    open: (path) => {
      opened.push(path);
      return new Promise((resolve) => (answer = resolve));
    },
  });
  const abort = new AbortController();
  const holds = ['/dev/a', '/dev/b', '/dev/c'].map((path) => slow.hold(path, abort.signal));
  const ended = Promise.all(holds.map((hold) => assert.rejects(hold, /enough/)));
  abort.abort(new Error('enough'));
  await ended;
  await assert.rejects(slow.hold('/dev/a', never), { kind: 'unavailable', message: '/dev/a does not answer' });
  await assert.rejects(slow.hold('/dev/d', never), { kind: 'unavailable', message: /\/dev\/a, \/dev\/b, \/dev\/c/ });
  assert.deepEqual(opened, ['/dev/a', '/dev/b', '/dev/c']);
  const late = await open('/dev/null');
  answer(late);
  while (late.fd >= 0) await new Promise<void>((resolve) => void setImmediate(resolve));
  const again = slow.hold('/dev/c', never);
  answer(await open('/dev/null'));
  await again;
  assert.deepEqual(opened, ['/dev/a', '/dev/b', '/dev/c', '/dev/c']);
  await slow.release('/dev/c');
});
