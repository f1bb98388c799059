import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { flagsFor } from './engine-settings.ts';

const growth = '--heap-growing-percent=30';

const rows: readonly (readonly [node: string, v8: string, flags: readonly string[] | undefined])[] = [
  ['20', '11.3.244.8-node.38', [growth, '--interrupt-budget=400000']],
  ['21, which was not tried', '11.8.172.17-node.20', undefined],
  ['22', '12.4.254.21-node.57', [growth, '--invocation-count-for-turbofan=18000']],
  ['24', '13.6.233.17-node.53', [growth]],
  ['26', '14.6.202.34-node.34', [growth]],
  ['one that is not out yet', '14.61.1', undefined],
  ['no V8', '', undefined],
];
for (const [node, v8, flags] of rows) {
  test(`the flags of Node ${node}`, () => assert.deepEqual(flagsFor(v8), flags));
}

/** The output of an engine with these flags, and whether it continues. */
function given(flags: readonly string[]): { readonly output: string; readonly status: number | null } {
  const program = flags.map((flag) => `require('node:v8').setFlagsFromString(${JSON.stringify(flag)});`).join('');
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--eval', program], { encoding: 'utf8' });
  return { output: stdout + stderr, status };
}

test('the engine of this test has been tried and takes its settings in silence', () => {
  const flags = flagsFor(process.versions.v8);
  assert.ok(flags !== undefined, `V8 ${process.versions.v8}: try the settings and extend the table`);
  assert.deepEqual(given(flags), { output: '', status: 0 });
});

test('an engine reports an unknown flag, which is why there is a table', () => {
  const { output, status } = given(['--no-such-setting=1']);
  assert.match(output, /no-such-setting/);
  assert.equal(status, 0);
});
