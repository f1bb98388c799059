import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { parseMountInfo } from './mountinfo.ts';
import { deviceNumber, HostVolumeDisks, type HostVolumeDisksOptions } from './volume-disks.ts';

const folder = mkdtempSync(join(tmpdir(), 'tubelet-disks-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const { signal } = new AbortController();

const disks = (more: Partial<HostVolumeDisksOptions> = {}): HostVolumeDisks =>
  new HostVolumeDisks({ clock: new FakeClock({ wall: 5_000 }), environment: process.env, ...more });

/** A program in the place of stat(1). */
function program(name: string, script: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

describe('a file system that another process asks', () => {
  test('has the figures that the kernel gives', async () => {
    const { blocks, bsize, files } = await statfs(folder);
    const { at, capacity, inodes, used = 0, available = 0 } = await disks().distantFilesystem(folder, signal);
    assert.deepEqual({ at, capacity, inodes }, { at: 5_000, capacity: blocks * bsize, inodes: files });
    assert.ok(used > 0 && available > 0 && used + available <= (capacity ?? 0));
  });

  test('that never answers is given up with the signal, and its asker is dead by then', async () => {
    const abort = new AbortController();
    const started = join(folder, 'started');
    const hangs = program('hangs', `echo $$ > ${started}.new && mv ${started}.new ${started}; exec sleep 1000`);
    const answer = disks({ program: hangs }).distantFilesystem(folder, abort.signal);
    let pid: number | undefined;
    while (pid === undefined) pid = await readFile(started, 'utf8').then(Number, () => undefined);
    abort.abort(new Error('enough'));
    await assert.rejects(answer, /enough/);
    assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
  });

  test('that is not there, or answers oddly, is an error in words', async () => {
    await assert.rejects(disks().distantFilesystem(join(folder, 'gone'), signal), /exit status 1: stat: .*gone/);
    const odd = program('odd', 'echo 1 2 x');
    await assert.rejects(disks({ program: odd }).distantFilesystem(folder, signal), /odd answer: 1 2 x/);
    const none = join(folder, 'no-such-program');
    await assert.rejects(disks({ program: none }).distantFilesystem(folder, signal), /ENOENT/);
  });
});

test('whether a file system is distant is read from the table of mounts', () => {
  const line = (point: string, fsType: string): string => `30 1 0:30 / ${point} rw - ${fsType} src rw`;
  const table = [
    line('/', 'ext4'),
    line('/nfs', 'nfs4'),
    line('/nfs/over', 'tmpfs'),
    line('/s3', 'fuse.s3fs'),
    line('/fuse', 'fuse'),
    line('/blk', 'fuseblk'),
    line('/overlay', 'fuse-overlayfs-is-no-type'),
  ];
  const it = disks({ mounts: () => parseMountInfo(table.join('\n')) });
  const cases: readonly (readonly [string, boolean])[] = [
    ['/', false],
    ['/home', false],
    ['/nfs', true],
    ['/nfs/below', true],
    ['/nfs-not', false],
    ['/nfs/over', false],
    ['/s3', true],
    ['/fuse', true],
    ['/blk', true],
    ['/overlay', false],
  ];
  for (const [path, expected] of cases) assert.equal(it.isDistant(path), expected, path);
});

describe('a device', () => {
  test('numbers are unpacked as the kernel packs them', () => {
    const cases: readonly (readonly [number, string])[] = [
      [0x0801, '8:1'],
      [0x0700, '7:0'],
      [0x103_01, '259:1'],
      [0x100_fd_00, '253:4096'],
    ];
    for (const [packed, expected] of cases) assert.equal(deviceNumber(packed), expected);
  });

  test('is no folder', async () => {
    await assert.rejects(disks().deviceBytes(folder), /is not a block device/);
  });
});
