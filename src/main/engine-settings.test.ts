import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { engineSettings, flagsFor } from './engine-settings.ts';

const [memory, maps, budget, calls] = engineSettings.map(({ flag }) => flag);

const rows: readonly (readonly [node: string, v8: string, flags: readonly (string | undefined)[]])[] = [
  ['20', '11.3.244.8-node.38', [memory, maps, budget]],
  ['21', '11.8.172.17-node.20', [memory, maps]],
  ['22', '12.4.254.21-node.57', [memory, maps, calls]],
  ['24', '13.6.233.17-node.53', [memory, maps, calls]],
  ['26', '14.6.202.34-node.34', [memory, maps, calls]],
  ['one before those that were seen', '10.2.154.26-node.36', []],
  ['one after those that were seen', '14.7.1', []],
  ['no V8', '', []],
];
for (const [node, v8, flags] of rows) {
  test(`the flags of Node ${node}`, () => assert.deepEqual(flagsFor(v8), flags));
}

/** What an engine that is given flags prints, and whether it goes on. */
function given(flags: readonly string[]): { readonly output: string; readonly status: number | null } {
  const program = flags.map((flag) => `require('node:v8').setFlagsFromString(${JSON.stringify(flag)});`).join('');
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--eval', program], { encoding: 'utf8' });
  return { output: stdout + stderr, status };
}

test('the engine of this test has settings and takes them in silence', () => {
  const flags = flagsFor(process.versions.v8);
  assert.notDeepEqual(flags, [], `V8 ${process.versions.v8}: try the settings and extend the table`);
  assert.deepEqual(given(flags), { output: '', status: 0 });
});

test('an engine that does not know a flag says so, which is why there is a table', () => {
  const { output, status } = given(['--no-such-setting=1']);
  assert.match(output, /no-such-setting/);
  assert.equal(status, 0);
});
