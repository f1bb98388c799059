import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { build } from 'esbuild';

/** Calls a socket without a listener, and answers the kind of the error. */
const script = `
  import { systemClock } from './src/base/system-clock.ts';
  import { unixChannels } from './src/grpc/index.ts';
  const method = { path: '/a/b', requestSerialize: () => Buffer.alloc(0), responseDeserialize: () => undefined };
  const channel = unixChannels(systemClock())('/no/such/socket');
  channel.call(method, {}, { timeoutMs: 10000 }).catch((error) => {
    process.stdout.write(String(error.kind));
    channel.close();
  });
`;

test('a channel works in the bundle as it does in the sources', async (context) => {
  // In the checkout, where packages are found.
  const folder = await mkdtemp(resolve('.build', 'bundled-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  await build({
    stdin: { contents: script, resolveDir: resolve('.'), loader: 'ts' },
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    outExtension: { '.js': '.mjs' },
    banner: { js: "import { createRequire as r } from 'node:module'; const require = r(import.meta.url);" },
    logLevel: 'error',
  });
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'stdin.mjs')]);
  assert.equal(stdout, 'unavailable');
});
