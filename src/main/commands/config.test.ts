import assert from 'node:assert/strict';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { configCommand } from './config.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

async function run(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  let out = '';
  let err = '';
  const code = await configCommand(args, {
    stdout: (text) => (out += text),
    stderr: (text) => (err += text),
    env: {},
    isTerminal: false,
    signal: new AbortController().signal,
  });
  return { code, out, err };
}

function folder(context: TestContext, files: Readonly<Record<string, string>>): string {
  const path = mkdtempSync(join(tmpdir(), 'tubelet-config-'));
  context.after(() => rmSync(path, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(path, name, '..'), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  return path;
}

test('check: a good file is ok, a bad one has all its faults reported', async (context) => {
  const root = folder(context, {
    good: `${head}maxPods: 5\n`,
    bad: `${head}MaxPods: 5\nport: 70000\nimageGCLowThresholdPercent: 90\nmaxPods: 1\nmaxPods: 1\n`,
    broken: `${head}maxPods: many\nzebra: 1\n`,
  });
  assert.deepEqual(await run('check', `${root}/good`), { code: 0, out: `${root}/good: ok\n`, err: '' });
  const { code, out, err } = await run('check', `${root}/bad`, `${root}/good`, `${root}/broken`, `${root}/none`);
  assert.equal(code, 1);
  assert.equal(out, `${root}/good: ok\n`);
  assert.deepEqual(err.replaceAll(root, '').split('\n').slice(0, -2), [
    '/bad:7: maxPods: this field is set twice, the last one counts',
    '/bad:3: MaxPods: unknown field, did you mean maxPods?',
    '/bad:4: port: must be from 1 to 65535, got 70000',
    '/bad:5: imageGCLowThresholdPercent: must be below imageGCHighThresholdPercent (85), got 90',
    '/broken:4: zebra: unknown field',
    '/broken:3: maxPods: expected a whole number of 32 bits, got "many"',
  ]);
  assert.match(err, /\/none: cannot be read/);
});

test('check: a fault caused by a default still names the file', async (context) => {
  const root = folder(context, { k: `${head}cgroupsPerQOS: false\n` });
  const { err } = await run('check', `${root}/k`);
  assert.match(err.replaceAll(root, ''), /^\/k: enforceNodeAllocatable: must be empty/);
});

test('show: YAML shows where each value came from', async (context) => {
  const root = folder(context, {
    k: `${head}authentication: {webhook: {enabled: false}}\nauthorization: {mode: AlwaysAllow}\nmaxPods: 5\nclusterDNS: [10.0.0.10]\nstaticPodURLHeader: {Authorization: [secret]}\n`,
    'd/a.conf': `${head}podsPerCore: 3\n`,
  });
  const { code, out, err } = await run('show', `--config=${root}/k`, '--config-dir', `${root}/d`, '--port=1234');
  assert.equal(code, 0);
  assert.match(err, /^warning: Flag --port has been deprecated/);
  const lines = out.replaceAll(root, '').split('\n');
  for (const line of [
    'kind: KubeletConfiguration',
    'maxPods: 5 # /k:5',
    'podsPerCore: 3 # /d/a.conf:3',
    'port: 1234 # --port',
    'clusterDNS: # /k:6',
    '- "10.0.0.10"',
    '    enabled: false # /k:3',
    'syncFrequency: 1m0s # default',
    '  memory.available: 100Mi # default; not acted on yet',
  ]) {
    assert.ok(lines.includes(line), line);
  }
  assert.ok(!out.includes('secret') && out.includes('<masked>'));
});

test('show: JSON is what /configz serves', async () => {
  for (const form of [['-o', 'json'], ['-ojson'], ['-o=json']]) {
    const { code, out } = await run('show', ...form, '--max-pods=7');
    assert.equal(code, 0);
    const { kubeletconfig } = JSON.parse(out) as { kubeletconfig: Record<string, unknown> };
    assert.equal(kubeletconfig['maxPods'], 7);
    assert.equal(kubeletconfig['syncFrequency'], '1m0s');
  }
});

test('show: faults go to the error output', async () => {
  assert.deepEqual(await run('show', '--max-pods=x'), {
    code: 1,
    out: '',
    err: 'invalid argument "x" for "--max-pods" flag: must be a whole number\n',
  });
});

test('anything else is answered with the usage', async () => {
  for (const args of [
    [],
    ['chek'],
    ['check'],
    ['check', '--strict', 'x'],
    ['show', '-o', 'xml'],
    ['show', '-o'],
    ['show', '--version'],
  ]) {
    const { code, out, err } = await run(...args);
    assert.equal(code, 2, args.join(' '));
    assert.equal(out, '');
    assert.match(err, /^Usage:/);
  }
  for (const args of [['help'], ['--help'], ['show', '--help']]) {
    const { code, out } = await run(...args);
    assert.equal(code, 0);
    assert.match(out, /^Usage:/);
  }
});
