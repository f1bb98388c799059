import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { noCalls } from '../base/calls.ts';
import { silentLog } from '../base/log.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryCalls } from '../testing/memory-calls.ts';
import { deviceNumber } from './device-bytes.ts';
import { ForeignStorage } from './foreign-storage.ts';
import { parseMountInfo, type MountEntry } from './mountinfo.ts';
import { HostVolumeDisks } from './volume-disks.ts';

const folder = mkdtempSync(join(tmpdir(), 'tubelet-disks-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const { signal } = new AbortController();
const tableOf = (text: string) => () => parseMountInfo(text);
const line = (point: string, fsType: string, device: string): string =>
  `30 1 ${device} / ${point} rw - ${fsType} src rw`;

/** Where the folder of this test counts as a mount of its own, and where it does not. */
const asForeign = tableOf([line('/', 'ext4', '8:1'), line(realpathSync(folder), 'nfs4', '0:30')].join('\n'));
const asOwn = tableOf(line('/', 'ext4', '8:1'));

function disks(mounts: () => readonly MountEntry[] = asOwn) {
  const clock = new FakeClock({ wall: 5_000 });
  const storage = new ForeignStorage({
    calls: noCalls,
    clock,
    log: silentLog,
    rootDir: '/',
    onAnswer: () => undefined,
    mounts,
  });
  after(() => storage.stop());
  return new HostVolumeDisks({ clock, storage });
}

test('calls of the other process are reported by path', async () => {
  const calls = new MemoryCalls();
  const storage = new ForeignStorage({
    clock: new FakeClock(),
    log: silentLog,
    rootDir: '/',
    onAnswer: () => undefined,
    mounts: asForeign,
    calls,
  });
  after(() => storage.stop());
  assert.equal(await storage.probe(folder), true);
  assert.deepEqual(calls.ended, [`storage stat ${folder}: ok`]);
});

describe('a file system', () => {
  for (const [where, mounts] of [
    ['here', asOwn],
    ['that another process asks', asForeign],
  ] as const) {
    test(`${where} has the figures that the kernel gives`, async () => {
      const { blocks, bsize, files } = await statfs(folder);
      const { at, capacity, inodes, used = 0, available = 0 } = await disks(mounts).distantFilesystem(folder, signal);
      assert.deepEqual({ at, capacity, inodes }, { at: 5_000, capacity: blocks * bsize, inodes: files });
      assert.ok(used > 0 && available > 0 && used + available <= (capacity ?? 0));
    });

    test(`${where} that is missing is an error with a message`, async () => {
      const gone = disks(mounts).distantFilesystem(join(folder, 'gone'), signal);
      await assert.rejects(gone, { kind: 'notFound', message: /ENOENT.*gone/ });
    });
  }
});

test('whether a file system is distant is read from the table of mounts', () => {
  const table = [
    line('/', 'ext4', '8:1'),
    line('/nfs', 'nfs4', '0:30'),
    line('/s3', 'fuse.s3fs', '0:31'),
    line('/shown', 'ext4', '8:1'),
    line('/disk', 'ext4', '8:16'),
    line('/memory', 'tmpfs', '0:32'),
  ];
  const it = disks(tableOf(table.join('\n')));
  const cases: readonly (readonly [string, boolean])[] = [
    ['/', false],
    ['/home', false],
    ['/nfs', true],
    ['/nfs/below', true],
    ['/nfs-not', false],
    ['/s3', true],
    ['/shown/x', false],
    ['/disk', true],
    ['/memory', false],
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
