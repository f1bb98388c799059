import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { loadImageProviders } from './load-providers.ts';
import { providerFiles } from '../../host/credential-plugins.ts';

const config = (...names: readonly string[]): string =>
  JSON.stringify({
    apiVersion: 'kubelet.config.k8s.io/v1',
    kind: 'CredentialProviderConfig',
    providers: names.map((name) => ({
      name,
      matchImages: ['a.example'],
      defaultCacheDuration: '1m',
      apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
    })),
  });

async function setUp(context: TestContext, files: Readonly<Record<string, string>>, programs: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'providers-'));
  context.after(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'bin'));
  await mkdir(join(folder, 'conf', 'sub.yaml'), { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, 'conf', name), text);
  for (const name of programs) {
    await writeFile(join(folder, 'bin', name), '#!/bin/sh\n');
    await chmod(join(folder, 'bin', name), 0o755);
  }
  const load = (path = 'conf', binDir = join(folder, 'bin')) =>
    loadImageProviders({ config: join(folder, path), binDir }, providerFiles, { serviceAccountTokens: true });
  return { folder, load };
}

test('a folder is read in the order of its names, and only what ends like a configuration', async (context) => {
  const files = { 'b.yaml': config('b'), 'a.json': config('a', 'c'), 'z.yml': config('z'), 'notes.txt': 'no' };
  const { load } = await setUp(context, files, ['a', 'b', 'c', 'z']);
  const loaded = await load();
  assert.deepEqual(
    loaded?.providers.map(({ name }) => name),
    ['a', 'c', 'b', 'z'],
  );
  assert.match(loaded?.hash ?? '', /^sha256:[0-9a-f]{64}$/);
});

test('a file alone, with its hash', async (context) => {
  const { load } = await setUp(context, { 'a.conf': config('a') }, ['a']);
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64BE(BigInt(config('a').length));
  const hash = createHash('sha256').update(prefix).update(config('a')).digest('hex');
  const loaded = await load('conf/a.conf');
  assert.equal(loaded?.providers.length, 1);
  assert.equal(loaded?.hash, `sha256:${hash}`);
});

test('nothing configured is no providers, half a configuration is a mistake', async () => {
  const load = (config: string, binDir: string) =>
    loadImageProviders({ config, binDir }, providerFiles, { serviceAccountTokens: true });
  assert.equal(await load('', ''), undefined);
  await assert.rejects(load('/a', ''), /needs --image-credential-provider-bin-dir/);
  await assert.rejects(load('', '/a'), /needs --image-credential-provider-config/);
});

test('what is wrong is said with its place', async (context) => {
  const { folder, load } = await setUp(context, { 'a.yaml': config('a'), 'b.yaml': config('a') }, ['a']);
  await assert.rejects(load(), /b\.yaml: provider "a" is configured twice$/);
  await assert.rejects(load('gone'), /cannot read .*gone: ENOENT/);
  await assert.rejects(load('bin'), /no files in it that end in \.json, \.yaml, \.yml$/);
  await assert.rejects(load('conf/a.yaml', folder), /\/a: no program there that could be run/);
  await chmod(join(folder, 'bin', 'a'), 0o644);
  await assert.rejects(load('conf/a.yaml'), { kind: 'invalid', message: /bin\/a: no program there/ });
});
