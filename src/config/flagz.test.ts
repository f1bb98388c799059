import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toFlagz } from './flagz.ts';
import { parseFlags } from './flags/parse.ts';
import { flagTable } from './flags/table.ts';
import { loadSettings } from './load.ts';

function flagsOf(...argv: readonly string[]): ReadonlyMap<string, string> {
  const result = loadSettings({ argv, version: '1', cwd: '/', readFile: assert.fail, listDir: assert.fail });
  assert.equal(result.kind, 'run', JSON.stringify(result));
  return new Map(result.kind === 'run' ? toFlagz(result.settings) : []);
}

test('without flags every one has its default', () => {
  const shown = flagsOf();
  for (const { name, default: byDefault } of flagTable) {
    if (name === 'help' || name === 'version') assert.equal(shown.has(name), false);
    else assert.equal(shown.get(name), name === 'storage-driver-password' ? '<masked>' : byDefault, name);
  }
});

const given = {
  'node-labels': 'a=b,example.com/c=',
  'cluster-dns': '10.0.0.10,10.0.0.11',
  'feature-gates': 'ContainerCheckpoint=false,LoggingAlphaOptions=true',
  'eviction-hard': 'memory.available<200Mi,nodefs.available<5%',
  'kube-reserved': 'cpu=100m,memory=1Gi',
  'register-with-taints': 'a=b:NoSchedule,c=:NoExecute',
  'sync-frequency': '1m30s',
  'log-json-info-buffer-size': '64Ki',
  vmodule: 'pleg=4,sync*=2',
  v: '3',
  'read-only-port': '0',
  'anonymous-auth': 'false',
  'root-dir': '/somewhere',
} as const;

test('given flags are shown as a command line would write them', () => {
  const shown = flagsOf(...Object.entries(given).map(([name, value]) => `--${name}=${value}`));
  for (const [name, value] of Object.entries(given)) assert.equal(shown.get(name), value, name);
});

test('the output parses to the same flags again', () => {
  const shown = flagsOf(...Object.entries(given).map(([name, value]) => `--${name}=${value}`));
  const words = [...shown].filter(([, value]) => value !== '' && value !== '<masked>');
  const { faults } = parseFlags(words.map(([name, value]) => `--${name}=${value}`));
  assert.deepEqual(faults, []);
  assert.deepEqual(flagsOf(...words.map(([name, value]) => `--${name}=${value}`)), shown);
});

test('headers and passwords are masked', () => {
  const shown = flagsOf('--manifest-url=https://me:hunter2@a/b', '--manifest-url-header=X:hunter2,X:hunter2,Y:hunter2');
  assert.equal(shown.get('manifest-url-header'), 'X:<masked>,X:<masked>,Y:<masked>');
  assert.equal(shown.get('manifest-url'), 'https://<masked>@a/b');
});
