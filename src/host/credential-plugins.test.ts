import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { silentLog } from '../base/log.ts';
import { Masked } from '../base/masked.ts';
import { createFakeCri } from '../testing/fake-cri/index.ts';
import { anImageManager } from '../testing/image-manager.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { noImageMetrics } from '../testing/image-manager.ts';
import { MemoryEvents } from '../testing/memory-events.ts';
import { aContainer, aPod } from '../testing/pods.ts';
import { RegistryCredentials } from '../images/credentials/registry-credentials.ts';
import { CredentialProvider } from '../images/providers/credential-provider.ts';
import { pluginRunner } from './credential-plugins.ts';

/** A real program, in the language at hand. */
async function program(context: TestContext, body: string): Promise<{ folder: string; file: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'plugin-'));
  context.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'plugin');
  await writeFile(file, `#!${process.execPath}\nconst fs = require('node:fs');\n${body}\n`);
  await chmod(file, 0o755);
  return { folder, file };
}

function setUp(file: string) {
  const clock = new FakeClock();
  const runner = pluginRunner({ clock, environment: { PATH: '/bin', SHARED: 'agent', OWN: 'agent' } });
  const run = (input = 'request\n', args: readonly string[] = []) =>
    runner.run({
      file,
      args,
      environment: new Masked({ OWN: 'provider', SECRET: 'hunter2-hunter2' }),
      input: new Masked(input),
      signal: new AbortController().signal,
    });
  return { clock, run };
}

describe('a program', () => {
  test('gets its request, arguments and environment, and no shell', async (context) => {
    const { file } = await program(
      context,
      `const { SHARED, OWN } = process.env;
       process.stdout.write(JSON.stringify([fs.readFileSync(0, 'utf8'), process.argv.slice(2), SHARED, OWN]));`,
    );
    const answer = await setUp(file).run('line\n', ['$HOME', 'a b', ';ls']);
    assert.deepEqual(JSON.parse(answer), ['line\n', ['$HOME', 'a b', ';ls'], 'agent', 'provider']);
  });

  test('may answer without reading', async (context) => {
    const { file } = await program(context, `fs.closeSync(0); process.stdout.write('done');`);
    assert.equal(await setUp(file).run('x'.repeat(200_000)), 'done');
  });

  test('that fails is reported with its message, and without its secrets', async (context) => {
    const { file } = await program(
      context,
      `process.stderr.write('no  luck:\\n' + process.env.SECRET + ' ' + fs.readFileSync(0, 'utf8')); process.exit(3);`,
    );
    const request = JSON.stringify({ serviceAccountToken: 'eyJhbGciOi.token' });
    await assert.rejects(setUp(file).run(request), (error: Error) => {
      assert.match(
        error.message,
        /^plugin ended with exit code 3: no luck: <masked> \{"serviceAccountToken":"<masked>"\}$/,
      );
      return true;
    });
  });

  test('that is missing, and that prints without end', async (context) => {
    await assert.rejects(setUp('/nowhere/plugin').run(), /^TubeletError: plugin could not be run: ENOENT$/);
    const { file } = await program(context, `for (;;) fs.writeSync(1, 'x'.repeat(65536));`);
    await assert.rejects(setUp(file).run(), /plugin printed more than 1048576 bytes/);
  });

  test('that hangs is killed after a minute', async (context) => {
    const { folder, file } = await program(
      context,
      `fs.writeFileSync(__dirname + '/pid', String(process.pid)); setInterval(() => {}, 1000);`,
    );
    const { clock, run } = setUp(file);
    const running = assert.rejects(run(), {
      kind: 'timeout',
      message: 'plugin did not answer within 60 s and was killed',
    });
    let pid = '';
    while (pid === '') pid = await readFile(join(folder, 'pid'), 'utf8').catch(() => '');
    await clock.advance(60_000);
    await running;
    const alive = (): boolean => {
      try {
        return process.kill(Number(pid), 0);
      } catch {
        return false;
      }
    };
    while (alive()) await new Promise((resolve) => void setImmediate(resolve));
  });
});

test('a private image is pulled with the credentials of a real plugin', async (context) => {
  const { folder } = await program(
    context,
    `const { image, apiVersion } = JSON.parse(fs.readFileSync(0, 'utf8'));
     fs.appendFileSync(__dirname + '/asked', image + '\\n');
     const auth = { [image.split('/')[0]]: { username: 'u', password: process.argv[2] } };
     console.log(JSON.stringify({ kind: 'CredentialProviderResponse', apiVersion, cacheKeyType: 'Registry', auth }));`,
  );
  const clock = new FakeClock();
  const cri = createFakeCri({ clock });
  for (const tag of [1, 2])
    cri.images.publish(`private.example/app:${tag}`, {}, { username: 'u', password: 'hunter2' });
  const config = {
    name: 'plugin',
    matchImages: ['*.example'],
    defaultCacheMs: 60_000,
    apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
    args: ['hunter2'],
    environment: new Masked({}),
  };
  const runner = pluginRunner({ clock, environment: {} });
  const provider = new CredentialProvider({
    clock,
    log: silentLog,
    config,
    binDir: folder,
    runner,
    metrics: noImageMetrics,
  });
  const credentials = new RegistryCredentials({
    secrets: { secret: () => undefined },
    node: { keyring: async () => new Map() },
    providers: [provider],
  });
  const events = new MemoryEvents();
  const manager = anImageManager({ clock, service: cri, events, credentials });
  for (const tag of [1, 2]) {
    const container = aContainer('main', { image: `private.example/app:${tag}` });
    const ensured = await manager.ensure(aPod(), container, 'spec.containers{main}', new AbortController().signal);
    assert.equal('ok' in ensured, true);
  }
  assert.equal(await readFile(join(folder, 'asked'), 'utf8'), 'private.example/app\n', 'asked once, without the tag');
});
