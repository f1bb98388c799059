import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { nodeCapacity } from './node-capacity.ts';

test('processor, memory, the lower limit of processes and the huge pages that are set aside', (context) => {
  const root = mkdtempSync(join(tmpdir(), 'tubelet-capacity-'));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  const folders = { hugePages: join(root, 'hugepages'), settings: join(root, 'kernel') };
  mkdirSync(folders.settings);
  writeFileSync(join(folders.settings, 'pid_max'), '32768\n');
  writeFileSync(join(folders.settings, 'threads-max'), '20000\n');
  const machine = { cpus: 4, memoryBytes: 1n << 33n };
  const common = { cpu: '4', memory: '8589934592', pid: '20000' };
  assert.deepEqual(nodeCapacity(machine, folders), common);
  for (const [name, pages] of [
    ['hugepages-2048kB', '8'],
    ['hugepages-1048576kB', '0'],
  ] as const) {
    mkdirSync(join(folders.hugePages, name), { recursive: true });
    writeFileSync(join(folders.hugePages, name, 'nr_hugepages'), `${pages}\n`);
  }
  assert.deepEqual(nodeCapacity(machine, folders), { ...common, 'hugepages-2Mi': '16777216', 'hugepages-1Gi': '0' });
});

test('of this machine', () => {
  assert.match(nodeCapacity({ cpus: 1, memoryBytes: 1n })['pid'] ?? '', /^[1-9]\d*$/);
});
