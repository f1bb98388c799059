import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mountOptions } from './mount-options.ts';

test('options of the volume and of the agent, sorted, without repeats', () => {
  const rows: readonly (readonly [readonly string[], readonly string[], readonly string[]])[] = [
    [[], [], []],
    [['nfsvers=4.1', 'hard'], [], ['hard', 'nfsvers=4.1']],
    [['ro', 'hard'], ['ro'], ['hard', 'ro']],
    [['', 'noexec,nosuid'], ['ro'], ['noexec,nosuid', 'ro']],
    [['context="system_u:object_r:x:s0"'], [], ['context="system_u:object_r:x:s0"']],
  ];
  for (const [wanted, own, expected] of rows) assert.deepEqual(mountOptions(wanted, own), expected);
});

test('an option that would make the program do something else is refused by name', () => {
  const refused = [
    'bind',
    'remount',
    'hard,move',
    'make-rshared',
    'private',
    'loop',
    'x-mount.mkdir',
    'X-mount.idmap=0',
  ];
  for (const option of [...refused, 'helper=x', 'a b', 'a\nb', 'a\0']) {
    assert.throws(() => mountOptions([option], []), { kind: 'invalid', message: /^mount option ".*" is not allowed$/ });
  }
});
