import assert from 'node:assert/strict';
import { chmod, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { Masked } from '../../base/masked.ts';
import { systemClock } from '../../base/system-clock.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { TlsAuthority } from '../../testing/tls-authority.ts';
import type { ApiServerAccess, ExecPlugin } from '../kubeconfig/access.ts';
import { accessFiles } from './access-files.ts';
import { ExecCredentials } from './exec-credentials.ts';
import { decodeExecCredential } from './exec-protocol.ts';
import { FileTls, tlsMaterial } from './file-tls.ts';
import { headerCredentials } from './header-credentials.ts';
import { execRunner } from './run-exec.ts';

async function folderOf(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'credentials-'));
  context.after(() => rm(folder, { recursive: true }));
  return folder;
}

describe('headers', () => {
  const deps = { files: accessFiles, clock: new FakeClock(), log: new MemoryLog() };

  test('of a token, a password, and without credentials', async () => {
    assert.equal(await headerCredentials({ token: new Masked('t') }, deps).authorization(), 'Bearer t');
    const basic = new Masked({ username: 'ä', password: 'b:c' });
    const expected = `Basic ${Buffer.from('ä:b:c').toString('base64')}`;
    assert.equal(await headerCredentials({ basic }, deps).authorization(), expected);
    assert.equal(await headerCredentials({}, deps).authorization(), undefined);
  });

  test('of a token file that is replaced', async (context) => {
    const folder = await folderOf(context);
    const tokenFile = join(folder, 'token');
    const clock = new FakeClock();
    const log = new MemoryLog();
    const credentials = headerCredentials(
      { tokenFile, token: new Masked('spare') },
      { files: accessFiles, clock, log },
    );
    assert.equal(await credentials.authorization(), 'Bearer spare');
    await writeFile(tokenFile, 'one\n');
    credentials.renew?.();
    assert.equal(await credentials.authorization(), 'Bearer one');
    await writeFile(tokenFile, 'two');
    await clock.advance(59_000);
    assert.equal(await credentials.authorization(), 'Bearer one');
    await clock.advance(1_000);
    assert.equal(await credentials.authorization(), 'Bearer two');
    await writeFile(tokenFile, '');
    await clock.advance(60_000);
    assert.equal(await credentials.authorization(), 'Bearer two');
    assert.deepEqual([log.messages('error').length, log.messages('warn').length], [1, 1]);
  });
});

describe('certificate files', () => {
  test('are read again when they change, and kept while a pair does not fit', async (context) => {
    const folder = await folderOf(context);
    const path = (name: string) => join(folder, name);
    const authority = await TlsAuthority.create();
    const [one, two] = await Promise.all([authority.client('one'), authority.client('two')]);
    const both = path('current.pem');
    await writeFile(path('ca.pem'), authority.certificate);
    await writeFile(path('1.pem'), one.certificate + one.key);
    await writeFile(path('2.pem'), two.certificate + two.key);
    await symlink(path('1.pem'), both);
    const clock = new FakeClock();
    const log = new MemoryLog();
    const user = { clientCertificate: { file: both }, clientKey: { file: both } };
    const tls = new FileTls({
      access: { certificateAuthority: { file: path('ca.pem') }, user },
      files: accessFiles,
      clock,
      log,
    });
    const first = await tls.current();
    assert.equal(first.ca, authority.certificate);
    assert.equal(first.key?.reveal(), one.certificate + one.key);
    await clock.advance(1_000);
    assert.equal(await tls.current(), first);

    await symlink(path('2.pem'), path('new'));
    await rename(path('new'), both);
    assert.equal(await tls.current(), first, 'checked a moment ago');
    await clock.advance(1_000);
    const second = await tls.current();
    assert.notEqual(second.version, first.version);
    assert.equal(second.certificate, two.certificate + two.key);

    for (const bad of [two.certificate + one.key, 'garbage', undefined]) {
      if (bad === undefined) await rm(both);
      else {
        await writeFile(path('bad'), bad);
        await rename(path('bad'), both);
      }
      await clock.advance(1_000);
      assert.equal(await tls.current(), second);
    }
    assert.equal(log.messages('error').length, 3);
  });

  test('that cannot be read at first are an error, and tried again', async () => {
    const access = { user: {}, certificateAuthority: { file: '/nowhere/ca.pem' } };
    const tls = new FileTls({ access, files: accessFiles, clock: new FakeClock(), log: new MemoryLog() });
    await assert.rejects(tls.current(), { kind: 'unavailable', message: /nowhere/ });
    await assert.rejects(tls.current(), { kind: 'unavailable' });
  });
});

describe('an exec plugin', () => {
  const apiVersion = 'client.authentication.k8s.io/v1';
  const pluginOf = (more: Partial<ExecPlugin> = {}): ExecPlugin => ({
    apiVersion,
    command: 'login',
    args: [],
    env: new Masked({}),
    provideClusterInfo: false,
    ...more,
  });
  const access: ApiServerAccess = {
    server: new URL('https://api:6443'),
    insecureSkipTlsVerify: false,
    disableCompression: false,
    user: {},
    namespace: 'default',
    tlsServerName: 'name',
    execConfig: { audience: 'x' },
  };
  const answer = (status: object) => JSON.stringify({ kind: 'ExecCredential', apiVersion, status });

  function setUp(answers: (count: number) => string, plugin = pluginOf()) {
    const clock = new FakeClock();
    const infos: string[] = [];
    const runner = { run: async (_: ExecPlugin, info: string) => answers(infos.push(info)) };
    const tls = { current: async () => tlsMaterial('CA') };
    return { clock, infos, credentials: new ExecCredentials({ plugin, access, tls, runner, clock }) };
  }

  test('is asked once for many, and again when its answer has expired or was refused', async () => {
    const { clock, infos, credentials } = setUp((count) =>
      answer({ token: `t${count}`, expirationTimestamp: new Date(clock.now() + 60_000).toISOString() }),
    );
    const both = await Promise.all([credentials.authorization(), credentials.authorization(), credentials.current()]);
    assert.deepEqual(both.slice(0, 2), ['Bearer t1', 'Bearer t1']);
    await clock.advance(59_999);
    assert.equal(await credentials.authorization(), 'Bearer t1');
    await clock.advance(1);
    assert.equal(await credentials.authorization(), 'Bearer t2');
    credentials.renew();
    assert.equal(await credentials.authorization(), 'Bearer t2', 'it is fresh');
    await clock.advance(1_000);
    credentials.renew();
    assert.equal(await credentials.authorization(), 'Bearer t3');
    assert.deepEqual(JSON.parse(infos[0]!), { kind: 'ExecCredential', apiVersion, spec: { interactive: false } });
  });

  test('gets the cluster if it asks for it', async () => {
    const { infos, credentials } = setUp(() => answer({ token: 't' }), pluginOf({ provideClusterInfo: true }));
    await credentials.authorization();
    assert.deepEqual(JSON.parse(infos[0]!).spec, {
      interactive: false,
      cluster: {
        server: 'https://api:6443',
        'tls-server-name': 'name',
        'certificate-authority-data': Buffer.from('CA').toString('base64'),
        config: { audience: 'x' },
      },
    });
  });

  test('may give a certificate', async () => {
    const pair = await (await TlsAuthority.create()).client('me');
    const { credentials } = setUp(() => answer({ clientCertificateData: pair.certificate, clientKeyData: pair.key }));
    const material = await credentials.current();
    assert.deepEqual([material.ca, material.certificate, material.key?.reveal()], ['CA', pair.certificate, pair.key]);
    assert.equal(await credentials.authorization(), undefined);
  });

  test('whose answer cannot be used is refused without a word of it', () => {
    const table: readonly (readonly [string, RegExp])[] = [
      ['hunter2', /not valid JSON/],
      [JSON.stringify({ kind: 'hunter2' }), /kind/],
      [JSON.stringify({ kind: 'ExecCredential', apiVersion: 'hunter2' }), /apiVersion is not/],
      [JSON.stringify({ kind: 'ExecCredential', apiVersion }), /its status/],
      [answer({}), /neither a token nor a certificate/],
      [answer({ clientKeyData: 'hunter2' }), /go together/],
      [answer({ token: ['hunter2'] }), /token is not text/],
      [answer({ token: 'hunter2', expirationTimestamp: 'hunter2' }), /RFC 3339/],
    ];
    for (const [text, pattern] of table) {
      assert.throws(
        () => decodeExecCredential(apiVersion, text),
        (error: Error) => {
          assert.match(error.message, pattern);
          assert.doesNotMatch(error.message, /hunter2/);
          return true;
        },
      );
    }
  });

  test('is a program of this machine, run without a shell', async (context) => {
    const folder = await folderOf(context);
    const command = join(folder, 'login');
    const seen: string[] = [];
    const runner = execRunner({
      clock: systemClock(),
      environment: { A: 'agent', B: 'agent' },
      seen: { ran: (exitCode, end) => seen.push(`${exitCode} ${end}`) },
    });
    const script = `#!${process.execPath}
      const { A, B, KUBERNETES_EXEC_INFO } = process.env;
      if (process.argv[2] === 'fail') { console.error('no luck'); process.exit(3); }
      console.log(JSON.stringify([A, B, KUBERNETES_EXEC_INFO, process.argv.slice(2)]));`;
    await writeFile(command, script);
    await chmod(command, 0o755);
    const plugin = pluginOf({ command, args: ['$HOME', ';'], env: new Masked({ B: 'plugin' }) });
    assert.deepEqual(JSON.parse(await runner.run(plugin, 'info')), ['agent', 'plugin', 'info', ['$HOME', ';']]);
    await assert.rejects(runner.run({ ...plugin, args: ['fail'] }, ''), /login ended with exit code 3: no luck/);
    const missing = { ...plugin, command: join(folder, 'missing'), installHint: 'get it from the shop' };
    await assert.rejects(runner.run(missing, ''), /missing is not there; get it from the shop/);
    assert.deepEqual(seen, ['0 no_error', '3 plugin_execution_error', '1 plugin_not_found_error']);
  });
});
