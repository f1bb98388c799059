import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { engineSettings } from './engine-settings.ts';

/** What an engine that is given a setting says, and whether it goes on. */
function given(flag: string): { readonly said: string; readonly status: number | null } {
  const program = `require('node:v8').setFlagsFromString(${JSON.stringify(flag)})`;
  const { stderr, status } = spawnSync(process.execPath, ['--eval', program], { encoding: 'utf8' });
  return { said: stderr, status };
}

for (const setting of engineSettings) {
  test(`the engine knows ${setting}`, () => {
    assert.deepEqual(given(setting), { said: '', status: 0 });
  });
}

test('one that does not know it says so and goes on', () => {
  const { said, status } = given('--no-such-setting=1');
  assert.match(said, /no-such-setting/);
  assert.equal(status, 0);
});
