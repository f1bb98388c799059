import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { noCalls } from '../../src/base/calls.ts';
import { silentLog } from '../../src/base/log.ts';
import {
  ForeignStorage,
  HostDisk,
  HostVolumeDisks,
  readMountInfo,
  volumeHost,
  volumeHostOn,
} from '../../src/host/index.ts';
import { realFolder, type RealFolder } from '../support/real-folders.ts';
import { clock, until } from '../support/real-wait.ts';
import { HungFuse, noFuse } from './support/hung-fuse.ts';

const options = { skip: noFuse ?? false };
const never = new AbortController().signal;
let folder: RealFolder;
let hung: HungFuse;
let healthy: HungFuse;
let answers = 0;
let storage: ForeignStorage;

before(async () => {
  if (noFuse !== undefined) return;
  folder = await realFolder('limits-hung-host');
  mkdirSync(join(folder.path, 'root'));
  storage = new ForeignStorage({
    calls: noCalls,
    clock,
    log: silentLog,
    rootDir: join(folder.path, 'root'),
    onAnswer: () => void answers++,
  });
  hung = await HungFuse.mount(join(folder.path, 'hung'));
  healthy = await HungFuse.mount(join(folder.path, 'healthy'));
  healthy.answer();
});

after(async () => {
  await hung?.abort();
  await healthy?.abort();
  await storage?.stop();
  await folder?.remove();
});

/** The processes that make calls for this test. */
function storageProcesses(): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid) || !existsSync(`/proc/${pid}/status`)) return false;
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return /^Name:\s+tubelet-storage$/m.test(status) && status.includes(`PPid:\t${process.pid}\n`);
  });
}

test('what is on file systems of the agent itself is done without another process', options, async () => {
  const { paths, mounts } = volumeHostOn(storage);
  const own = join(folder.path, 'root/own');
  await paths.makeFolder(own, 0o750);
  await paths.makeBelow(own, 'a/b');
  assert.deepEqual((await paths.stat(`${own}/a`))?.kind, 'folder');
  assert.equal(await paths.stat(`${own}/none`), undefined);
  const open = await paths.openBelow(own, 'a/b');
  const target = join(folder.path, 'root/bound');
  mkdirSync(target);
  await mounts.bind(open.source, target);
  assert.equal(await open.isAt(target), true);
  await open.close();
  await mounts.restrict(target, ['ro']);
  await mounts.release(target);
  await mounts.mount('tmpfs', target, ['size=64k']);
  assert.deepEqual(await mounts.atOrBelow(target), [target]);
  await mounts.release(target);
  assert.deepEqual(await mounts.atOrBelow(target), []);
  assert.deepEqual(storageProcesses(), []);
});

test('a foreign file system that answers is used as any other', options, async () => {
  const { paths, mounts } = volumeHostOn(storage);
  symlinkSync(healthy.path, join(folder.path, 'link'));
  const part = join(folder.path, 'link/a/b');
  assert.equal((await paths.stat(part))?.kind, 'folder');
  assert.equal(storageProcesses().length, 1);
  const open = await paths.openBelow(join(folder.path, 'link'), 'a/b');
  assert.equal(open.isFolder, true);
  const target = join(folder.path, 'root/foreign');
  mkdirSync(target);
  await mounts.bind(open.source, target);
  assert.equal(await open.isAt(target), true);
  await open.close();
  await mounts.restrict(target, ['ro']);
  assert.deepEqual(
    readMountInfo()
      .find(({ mountPoint }) => mountPoint === target)
      ?.options.includes('ro'),
    true,
  );
  await mounts.release(target);
  assert.deepEqual(await volumeHost.mounts.atOrBelow(target), []);
  const disks = new HostVolumeDisks({ clock, storage });
  assert.equal(disks.isDistant(healthy.path), true);
  assert.equal((await disks.distantFilesystem(healthy.path, never)).capacity, 0);
});

test(
  'one that does not answer is asked once, holds up nothing else, and is asked again when it answers',
  options,
  async () => {
    const { paths } = volumeHostOn(storage);
    const words = new RegExp(
      `the file system mounted on ${hung.path} \\(fuse.hung, hung-server:/export\\) does not answer`,
    );
    // Links of tenants lead there too, also out of a file system that answers.
    symlinkSync(`${hung.path}/deep`, join(folder.path, 'to-hung'));
    const began = clock.monotonic();
    const looks = Array.from({ length: 40 }, (_, index) =>
      paths.stat(index % 2 === 0 ? `${hung.path}/d${index}` : join(folder.path, `to-hung/d${index}`)),
    );
    const refused = Promise.all(looks.map((look) => assert.rejects(look, words)));
    // Meanwhile the threads of this process and other file systems are free.
    for (let index = 0; index < 50; index++) {
      const at = clock.monotonic();
      await readFile('/etc/hostname');
      assert.equal((await paths.stat(`${healthy.path}/x`))?.kind, 'folder');
      assert.ok(clock.monotonic() - at < 1_000);
    }
    await refused;
    const tookMs = clock.monotonic() - began;
    assert.ok(tookMs >= 4_000 && tookMs < 20_000, `${tookMs} ms`);
    assert.deepEqual(
      storage.hung().map(({ mountPoint }) => mountPoint),
      [hung.path],
    );
    const again = clock.monotonic();
    await assert.rejects(paths.openBelow(hung.path, 'x'), words);
    await assert.rejects(paths.makeBelow(hung.path, 'x'), words);
    await assert.rejects(paths.makeFolder(`${hung.path}/x`, 0o755), words);
    await assert.rejects(paths.changeTree(hung.path, { gid: 1, fileBits: 0, folderBits: 0 }, never), words);
    assert.ok(clock.monotonic() - again < 1_000, 'nobody waits a second time');
    assert.equal(storageProcesses().length, 1);
    hung.answer();
    await until('the storage is asked again', () => answers > 0);
    assert.deepEqual(storage.hung(), []);
    assert.equal((await paths.stat(join(folder.path, 'to-hung/d1')))?.kind, 'folder');
  },
);

test(
  'what pods mounted below their volumes is not looked at when those are measured or given to a group',
  options,
  async () => {
    const volume = join(folder.path, 'root/volume');
    mkdirSync(join(volume, 'deep'), { recursive: true });
    const below = await Promise.all(
      Array.from({ length: 3 }, (_, index) => HungFuse.mount(join(volume, 'deep', `hung-${index}`))),
    );
    try {
      writeFileSync(join(volume, 'file'), 'x'.repeat(10_000));
      const disk = new HostDisk(clock);
      const { bytes, inodes } = await disk.tree(volume, never);
      assert.deepEqual([inodes, bytes > 10_000], [3, true]);
      assert.equal((await disk.folders(join(volume, 'deep'), never)).folders.size, 0);
      const { paths } = volumeHostOn(storage);
      const abort = new AbortController();
      const change = paths.changeTree(volume, { gid: 1, fileBits: 0, folderBits: 0 }, abort.signal);
      await clock.sleep(200);
      await readFile('/etc/hostname');
      abort.abort(new Error('enough'));
      await assert.rejects(change, /does not answer|given up/);
    } finally {
      for (const one of below) await one.abort();
    }
  },
);

test('one that is cut off while it hangs fails, and is forgotten', options, async () => {
  const { paths } = volumeHostOn(storage);
  const path = join(folder.path, 'cut');
  const cut = await HungFuse.mount(path);
  try {
    writeFileSync(join(folder.path, 'root/file'), 'text');
    await assert.rejects(paths.stat(`${path}/x`), /does not answer/);
    const before = answers;
    await cut.abort();
    await until('it is forgotten', () => answers > before);
    assert.deepEqual(storage.hung(), []);
    assert.equal(await paths.stat(`${path}/x`), undefined);
  } finally {
    await cut.abort();
  }
});
