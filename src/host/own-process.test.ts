import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { kernelTunables, ownProcess } from './own-process.ts';

const proc = mkdtempSync(join(tmpdir(), 'own-process-'));
after(() => rmSync(proc, { recursive: true }));
for (const folder of ['self/ns', '1/ns']) mkdirSync(join(proc, folder), { recursive: true });

describe('this process', () => {
  const own = ownProcess(proc);

  test('reads and writes its score', () => {
    writeFileSync(join(proc, 'self/oom_score_adj'), '-5\n');
    assert.equal(own.oomScoreAdj(), -5);
    own.setOomScoreAdj(7);
    assert.equal(readFileSync(join(proc, 'self/oom_score_adj'), 'utf8'), '7');
  });

  test('is in a namespace of users unless all ids are its own', () => {
    assert.equal(own.inUserNamespace(), false, 'a kernel without them');
    for (const [map, expected] of [
      ['         0          0 4294967295\n', false],
      ['         0     100000      65536\n', true],
      ['         0          0          1\n         1     100001      65535\n', true],
    ] as const) {
      writeFileSync(join(proc, 'self/uid_map'), map);
      assert.equal(own.inUserNamespace(), expected, map);
    }
  });

  test('has the process ids of the machine where the first process has the same', () => {
    symlinkSync('pid:[1]', join(proc, 'self/ns/pid'));
    symlinkSync('pid:[1]', join(proc, '1/ns/pid'));
    assert.equal(own.hasPidsOfMachine(), true);
    rmSync(join(proc, '1/ns/pid'));
    symlinkSync('pid:[2]', join(proc, '1/ns/pid'));
    assert.equal(own.hasPidsOfMachine(), false);
  });

  test('may keep its limit of open files, and is refused more than the kernel allows to anybody', async () => {
    const hard = Number(/^Max open files\s+\d+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]);
    await own.setMaxOpenFiles(hard);
    assert.match(
      readFileSync('/proc/self/limits', 'utf8'),
      new RegExp(`^Max open files\\s+${hard}\\s+${hard}\\s`, 'm'),
    );
    await assert.rejects(own.setMaxOpenFiles(2 ** 40), {
      kind: 'denied',
      message: `setrlimit RLIMIT_NOFILE ${2 ** 40}: EPERM`,
    });
  });
});

test('settings of the kernel are read and written by their path, and what is missing is named in the words of the system', () => {
  const sys = join(proc, 'sys');
  mkdirSync(join(sys, 'vm'), { recursive: true });
  writeFileSync(join(sys, 'vm/overcommit_memory'), '0\n');
  const tunables = kernelTunables(sys);
  assert.equal(tunables.read('vm/overcommit_memory'), '0\n');
  tunables.write('vm/overcommit_memory', '1');
  assert.equal(tunables.read('vm/overcommit_memory'), '1');
  const message = `open ${sys}/kernel/keys/root_maxkeys: no such file or directory`;
  assert.throws(() => tunables.read('kernel/keys/root_maxkeys'), { kind: 'notFound', message });
});
