import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mountsAtOrBelow, parseMountInfo, readMountInfo } from './mountinfo.ts';

const text = [
  '36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue',
  '40 36 0:45 / /var/lib/pods/my\\040pod/volumes/a\\134b\\011c rw shared:7 master:2 - tmpfs tmp\\043fs rw,size=4k',
  '41 36 0:46 / /mnt2/sub rw - proc proc rw',
  'something else',
  '',
].join('\n');

test('fields, optional fields and octal escapes', () => {
  const mounts = parseMountInfo(text);
  assert.equal(mounts.length, 3);
  assert.deepEqual(mounts[0], {
    id: 36,
    parentId: 35,
    device: '98:0',
    root: '/mnt1',
    mountPoint: '/mnt2',
    options: ['rw', 'noatime'],
    optionalFields: ['master:1'],
    fsType: 'ext3',
    source: '/dev/root',
    superOptions: ['rw', 'errors=continue'],
  });
  assert.equal(mounts[1]?.mountPoint, '/var/lib/pods/my pod/volumes/a\\b\tc');
  assert.deepEqual(mounts[1]?.optionalFields, ['shared:7', 'master:2']);
  assert.equal(mounts[1]?.source, 'tmp#fs');
  assert.deepEqual(mounts[2]?.optionalFields, []);
});

test('mounts on a path and below it', () => {
  const mounts = parseMountInfo(text);
  const table: [string, number][] = [
    ['/', 3],
    ['/mnt2', 2],
    ['/mnt2/sub', 1],
    ['/mnt', 0],
    ['/mnt2/su', 0],
    ['/var/lib/pods', 1],
  ];
  for (const [path, count] of table) {
    assert.equal(mountsAtOrBelow(mounts, path).length, count, path);
  }
});

test('the mounts of this machine', () => {
  assert.ok(readMountInfo().some((mount) => mount.mountPoint === '/proc' && mount.fsType === 'proc'));
});
