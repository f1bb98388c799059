import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hangText, isForeign, ownDevices } from './foreign-mounts.ts';
import { locateMount } from './locate-mount.ts';
import { parseMountInfo } from './mountinfo.ts';

const mounts = parseMountInfo(
  [
    '20 1 8:1 / / rw - ext4 /dev/sda1 rw',
    '21 20 0:5 / /proc rw - proc proc rw',
    '22 20 0:6 / /run rw - tmpfs tmpfs rw',
    '23 20 8:2 / /var/lib/agent rw - xfs /dev/sda2 rw',
    '24 20 8:1 /srv /shown rw - ext4 /dev/sda1 rw',
    '30 20 0:40 / /mnt/nfs rw - nfs4 server:/a rw',
    '31 30 0:41 / /mnt/nfs/inner rw - fuse.s3 bucket rw',
    '32 20 8:16 / /mnt/disk rw - ext4 /dev/sdb rw',
    '33 20 0:42 / /mnt/covered rw - nfs4 server:/b rw',
    '34 33 0:43 / /mnt/covered rw - tmpfs tmpfs rw',
    '35 20 0:44 / /auto rw - autofs systemd-1 rw',
    '36 20 0:45 / /mnt/a\\040b rw - overlay overlay rw',
  ].join('\n'),
);
const own = ownDevices(mounts, ['/', '/var/lib/agent']);
const links: Readonly<Record<string, string>> = {
  '/to-nfs': '/mnt/nfs/deep',
  '/relative': 'mnt/./nfs',
  '/up/link': '../mnt/disk/x',
  '/to-own': 'run/x',
  '/loop': '/loop',
  '/chain': 'to-nfs',
  '/mnt/nfs/link': '/mnt/disk',
};

async function points(path: string, mayEnter = new Set(own)): Promise<readonly string[]> {
  const touched: string[] = [];
  const found = await locateMount(path, {
    mounts,
    mayEnter: (mount) => !isForeign(mount, mayEnter),
    readLink: async (at) => {
      touched.push(at);
      return links[at];
    },
  });
  const gate = found[0]?.mountPoint;
  // Nothing at or below what may hang is touched.
  if (gate !== undefined)
    assert.deepEqual(
      touched.filter((at) => at === gate || at.startsWith(`${gate}/`)),
      [],
    );
  return found.map(({ mountPoint }) => mountPoint);
}

test('own are the file systems of the agent itself, wherever they are shown', () => {
  assert.deepEqual([...own], ['8:1', '8:2']);
  const foreign = mounts.filter((mount) => isForeign(mount, own)).map(({ mountPoint }) => mountPoint);
  assert.deepEqual(foreign, ['/mnt/nfs', '/mnt/nfs/inner', '/mnt/disk', '/mnt/covered', '/auto', '/mnt/a b']);
});

describe('the mounts that a path leads into', () => {
  const cases: readonly (readonly [path: string, expected: readonly string[], why: string])[] = [
    ['/', [], "the root is the agent's"],
    ['/etc/x', [], 'on the root'],
    ['/run/x/y', [], 'in memory'],
    ['/var/lib/agent/pods', [], 'the disk of the agent'],
    ['/shown/x', [], 'the root shown elsewhere'],
    ['/mnt', [], 'above'],
    ['/mnt/nfs', ['/mnt/nfs'], 'the mount point itself'],
    ['/mnt/nfs/x', ['/mnt/nfs'], 'below'],
    ['/mnt/nfs2/x', [], 'only the name begins like it'],
    ['/mnt/nfs/inner/x', ['/mnt/nfs', '/mnt/nfs/inner'], 'through one into another'],
    ['//mnt/./nfs//inner/', ['/mnt/nfs', '/mnt/nfs/inner'], 'odd spelling'],
    ['/mnt/disk', ['/mnt/disk'], 'a disk of its own may hang too'],
    ['/mnt/covered/x', [], 'another is mounted over it'],
    ['/auto/x', ['/auto'], 'a lookup would mount'],
    ['/mnt/a b/x', ['/mnt/a b'], 'escaped in the table, of a kind not known'],
    ['/to-nfs/y', ['/mnt/nfs'], 'a link'],
    ['/relative/inner', ['/mnt/nfs', '/mnt/nfs/inner'], 'a relative link'],
    ['/up/link/y', ['/mnt/disk'], 'a link with steps back'],
    ['/chain', ['/mnt/nfs'], 'links one after the other'],
    ['/to-own', [], 'a link that stays'],
    ['/loop/x', [], 'the call itself fails'],
    ['/mnt/nfs/../disk', ['/mnt/nfs'], 'what is behind steps back is walked where the first may be entered'],
    ['/proc/sys/x', [], 'the kernel answers'],
    ['/proc/1/root/mnt/nfs', ['/proc/1'], 'links of processes lead past names'],
    ['/proc/self/cwd', ['/proc/self'], 'links of processes lead past names'],
  ];
  for (const [path, expected, why] of cases) {
    test(`${path}: ${why}`, async () => {
      assert.deepEqual(await points(path), expected);
    });
  }

  test('that may be entered are, and links there are read', async () => {
    assert.deepEqual(await points('/mnt/nfs/x', new Set([...own, '0:40'])), []);
    assert.deepEqual(await points('/mnt/nfs/link/x', new Set([...own, '0:40'])), ['/mnt/disk']);
    assert.deepEqual(await points('/mnt/nfs/inner', new Set([...own, '0:40'])), ['/mnt/nfs/inner']);
    assert.deepEqual(await points('/proc/1/root', new Set([...own, 'process /proc/1'])), []);
  });
});

test('a hung mount is named by path, mount point, type and source', () => {
  const mount = mounts.find(({ mountPoint }) => mountPoint === '/mnt/nfs');
  assert.ok(mount);
  assert.equal(
    hangText('/mnt/nfs/x', mount),
    '/mnt/nfs/x: the file system mounted on /mnt/nfs (nfs4, server:/a) does not answer',
  );
});
