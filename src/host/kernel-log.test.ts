import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { namesKill, wasKilledForMemory } from './kernel-log.ts';

const kill = (seconds: number, pid: number, words = 'Out of memory'): string =>
  `3,1234,${seconds}000000,-;${words}: Killed process ${pid} (node) total-vm:1kB, anon-rss:1kB`;

const table: readonly (readonly [string, boolean])[] = [
  [kill(100, 7), true],
  [kill(100, 7, 'Memory cgroup out of memory'), true],
  [kill(99, 7), false],
  [kill(100, 70), false],
  ['6,1,100000000,-;eth0: link is up', false],
  ['Killed process 7 (node)', false],
];
for (const [record, expected] of table) {
  test(`${record.slice(0, 60)}: ${expected}`, () => assert.equal(namesKill(record, 7, 100), expected));
}

test('a log that cannot be read, or counts otherwise, gives no answer', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tubelet-kmsg-'));
  try {
    const path = join(folder, 'kmsg');
    writeFileSync(path, `${kill(50, 8)}\n${kill(200, 7)}\n`);
    const pidNamespace = 'pid:[4026531836]';
    assert.equal(wasKilledForMemory(7, 100, { path, pidNamespace }), true);
    assert.equal(wasKilledForMemory(8, 100, { path, pidNamespace }), false);
    assert.equal(wasKilledForMemory(7, 100, { path, pidNamespace: 'pid:[1]' }), undefined);
    assert.equal(wasKilledForMemory(7, 100, { path: join(folder, 'none'), pidNamespace }), undefined);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
