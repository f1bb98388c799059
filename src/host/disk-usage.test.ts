import assert from 'node:assert/strict';
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { passingFolder } from '../testing/recorded-tree.ts';
import { countedMounts, deviceAt } from './disk-usage-mounts.ts';
import { HostDisk } from './disk-usage.ts';
import { parseMountInfo } from './mountinfo.ts';

const disk = new HostDisk(new FakeClock());
const { signal } = new AbortController();
const folder = (): string => passingFolder('disk');
const text = 'x'.repeat(4_096);

test('a tree counts its root, folders, files and links, and files with several names once', async () => {
  const root = folder();
  mkdirSync(join(root, 'a/b'), { recursive: true });
  writeFileSync(join(root, 'a/one'), text);
  const before = await disk.tree(root, signal);
  linkSync(join(root, 'a/one'), join(root, 'a/b/same'));
  symlinkSync('/', join(root, 'out'));
  const { bytes, inodes } = await disk.tree(root, signal);
  assert.equal(before.inodes, 4);
  assert.equal(inodes, 5);
  assert.ok(before.bytes >= 4_096 && bytes >= before.bytes && bytes < before.bytes + 8_192, `${before.bytes} ${bytes}`);
});

test('many files in one folder, and many folders', async () => {
  const root = folder();
  for (let index = 0; index < 150; index++) {
    mkdirSync(join(root, `d${index}`));
    writeFileSync(join(root, `f${index}`), '');
  }
  assert.equal((await disk.tree(root, signal)).inodes, 301);
});

test('a folder too large to be listed as a whole is counted all the same', async () => {
  const root = folder();
  // Long names make the folder itself large with few files.
  const name = 'n'.repeat(240);
  for (let index = 0; index < 6_000; index++) writeFileSync(join(root, `${name}${index}`), '');
  assert.equal((await disk.tree(root, signal)).inodes, 6_001);
});

test('names that are not text are counted like others, and folders below them', async () => {
  const root = folder();
  const name = (bytes: readonly number[], rest = ''): Buffer =>
    Buffer.concat([Buffer.from(`${root}/`), Buffer.from(bytes), Buffer.from(rest)]);
  writeFileSync(name([0xff, 0xfe]), text);
  mkdirSync(name([0xc3]));
  writeFileSync(name([0xc3], '/\u00e4\u4e16'), text);
  assert.equal((await disk.tree(root, signal)).inodes, 4);
});

test('folders too large to be read at once, within each other', async () => {
  const root = folder();
  const long = 'n'.repeat(240);
  let path = root;
  for (let level = 0; level < 3; level++) {
    for (let index = 0; index < 400; index++) mkdirSync(join(path, `${long}${index}`));
    path = join(path, `${long}${200 + level}`);
  }
  assert.equal((await disk.tree(root, signal)).inodes, 1_201);
  const { folders } = await disk.folders(root, signal);
  assert.deepEqual([folders.size, folders.get(`${long}200`)?.inodes, folders.get(`${long}0`)?.inodes], [400, 800, 0]);
});

test('a missing tree has size 0; one file is a tree', async () => {
  assert.deepEqual(await disk.tree('/nowhere/at/all', signal), { bytes: 0, inodes: 0 });
  const file = join(folder(), 'hosts');
  writeFileSync(file, text);
  assert.deepEqual(await disk.tree(file, signal), { bytes: 4_096, inodes: 1 });
});

test('a walk ends with its signal', async () => {
  const root = folder();
  mkdirSync(join(root, 'below'));
  await assert.rejects(disk.tree(root, AbortSignal.abort(new Error('enough'))), /enough/);
});

test('folders of logs: what is in each, and the files beside them', async () => {
  const root = folder();
  mkdirSync(join(root, 'main'));
  mkdirSync(join(root, 'side'));
  writeFileSync(join(root, 'main/0.log'), text);
  writeFileSync(join(root, 'main/1.log'), '');
  writeFileSync(join(root, 'beside'), text);
  const { files, folders } = await disk.folders(root, signal);
  assert.deepEqual(files, { bytes: 4_096, inodes: 1 });
  assert.deepEqual(
    folders,
    new Map([
      ['main', { bytes: 4_096, inodes: 2 }],
      ['side', { bytes: 0, inodes: 0 }],
    ]),
  );
  assert.equal((await disk.folders('/nowhere', signal)).folders.size, 0);
});

test('file systems', async () => {
  const { capacity = 0, available = 0, used = 0, inodes = 0, inodesFree = 0, inodesUsed } = await disk.filesystem('/');
  assert.ok(capacity > 0 && capacity >= available + used);
  assert.equal(inodesUsed, inodes - inodesFree);
  assert.equal(await disk.isMountPoint('/proc'), true);
  assert.equal(await disk.isMountPoint(folder()), false);
  const all = await disk.filesystems();
  assert.ok(all.every(({ device }) => device !== undefined && device !== ''));
});

test('mounts that count', () => {
  const mounts = parseMountInfo(
    [
      '1 0 8:1 / / rw - ext4 /dev/sda1 rw',
      '2 1 8:1 /var /var rw - ext4 /dev/sda1 rw',
      '3 1 8:16 / /data rw - xfs /dev/sdb rw',
      '4 1 0:20 / /run rw - tmpfs tmpfs rw',
      '5 1 0:21 / /var/lib/kubelet/pods/u/volumes/x rw - tmpfs tmpfs rw',
      '6 1 0:22 / /mnt rw - nfs4 server:/x rw',
      '7 1 0:23 / /run/containerd/rootfs rw - overlay overlay rw',
    ].join('\n'),
  );
  assert.deepEqual(countedMounts(mounts), [
    { path: '/', device: '/dev/sda1' },
    { path: '/data', device: '/dev/sdb' },
    { path: '/run', device: '/run' },
  ]);
  assert.equal(deviceAt(mounts, '/data/images'), '/dev/sdb');
  assert.equal(deviceAt(mounts, '/database'), '/dev/sda1');
  assert.equal(deviceAt(mounts, '/run'), '/run');
  assert.equal(deviceAt([], '/run'), undefined);
});
