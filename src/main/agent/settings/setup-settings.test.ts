import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSettings, type Settings } from '../../../config/index.ts';
import { setupSettings } from './setup-settings.ts';

function settings(argv: readonly string[]): Settings {
  const loaded = loadSettings({ argv, version: '1', cwd: '/', readFile: assert.fail, listDir: assert.fail });
  return loaded.kind === 'run' ? loaded.settings : assert.fail(JSON.stringify(loaded));
}

const rows: readonly (readonly [readonly string[], string | undefined, string])[] = [
  [[], undefined, 'change'],
  [[], '', 'change'],
  [[], 'keep', 'keep'],
  [['--protect-kernel-defaults'], undefined, 'refuse'],
  [['--protect-kernel-defaults'], 'keep', 'refuse'],
];
for (const [argv, variable, expected] of rows) {
  test(`${argv.join(' ')} with TUBELET_KERNEL_TUNABLES=${variable ?? ''}: ${expected}`, () => {
    const env = { TUBELET_KERNEL_TUNABLES: variable };
    assert.equal(setupSettings(settings(argv), env).tunables, expected);
  });
}

test('another value is refused: a misspelt one would change the kernel', () => {
  const env = { TUBELET_KERNEL_TUNABLES: 'kept' };
  const message = 'TUBELET_KERNEL_TUNABLES=kept: the only value is keep';
  assert.throws(() => setupSettings(settings([]), env), { kind: 'invalid', message });
});

test('the score is that of the Go kubelet, or as configured', () => {
  assert.equal(setupSettings(settings([]), {}).oomScoreAdj, -999);
  assert.equal(setupSettings(settings(['--oom-score-adj=-5']), {}).oomScoreAdj, -5);
});

test('the root directory is in canonical form, however it is written', () => {
  for (const [written, expected] of [
    ['/var/lib/kubelet', '/var/lib/kubelet'],
    ['/var/lib/kubelet/', '/var/lib/kubelet'],
    ['/var//lib/./x/../kubelet', '/var/lib/kubelet'],
    ['/', '/'],
  ] as const) {
    assert.equal(settings([`--root-dir=${written}`]).flags.rootDir, expected);
  }
});
