import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cgroupHierarchies, parseMountInfo } from './cgroups.ts';
import { parseLinks } from './network.ts';
import { identityOf, isAlive, listProcesses, hasEnded, parseStat, signalProcess } from './process-table.ts';

test('parseStat reads behind the last parenthesis of the command', () => {
  const fields = Array.from({ length: 17 }, (_, index) => (index === 15 ? 3 : 0)).join(' ');
  const stat = parseStat(`7 (a) (b c)) S 42 ${fields} 987654 0`);
  assert.deepEqual(stat, { state: 'S', parent: 42, threads: 3, startTime: '987654' });
  assert.equal(parseStat(''), undefined);
});

test('a process has ended when its last thread has, not when its first one has', () => {
  assert.equal(hasEnded({ state: 'Z', threads: 1 }), true);
  assert.equal(hasEnded({ state: 'Z', threads: 0 }), true);
  assert.equal(hasEnded({ state: 'Z', threads: 9 }), false);
  assert.equal(hasEnded({ state: 'S', threads: 1 }), false);
});

test('this process is in the table and is distinguished from another with its id', () => {
  const self = listProcesses().find((info) => info.pid === process.pid);
  assert.equal(self?.parent, process.ppid);
  assert.deepEqual(identityOf(process.pid), { pid: process.pid, startTime: self?.startTime });
  const other = { pid: process.pid, startTime: '1' };
  assert.equal(isAlive(other), false);
  // Would end this test if it went by the number alone.
  assert.equal(signalProcess(other, 'SIGKILL'), false);
});

const mountInfo = `22 27 0:21 / /proc rw,relatime - proc proc rw
31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw
32 31 0:29 / /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu
41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
50 27 0:40 / /a\\040b\\134c rw master:1 - tmpfs tmpfs rw
`;

test('mountinfo: blanks and backslashes are unescaped, optional fields skipped', () => {
  assert.deepEqual(
    parseMountInfo(mountInfo).map((mount) => `${mount.type} ${mount.path}`),
    [
      'proc /proc',
      'tmpfs /sys/fs/cgroup',
      'cgroup /sys/fs/cgroup/cpu',
      'cgroup2 /sys/fs/cgroup/unified',
      'tmpfs /a b\\c',
    ],
  );
  assert.deepEqual(cgroupHierarchies(parseMountInfo(mountInfo)), ['/sys/fs/cgroup/cpu', '/sys/fs/cgroup/unified']);
});

test('parseLinks takes names and bridges, and survives gaps', () => {
  assert.deepEqual(parseLinks('[{"ifname":"lo"},{},{"ifname":"veth1","master":"br0"}]'), [
    { name: 'lo' },
    { name: 'veth1', master: 'br0' },
  ]);
  assert.deepEqual(parseLinks(''), []);
});
