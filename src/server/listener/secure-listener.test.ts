import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectPlain } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { X509Certificate } from 'node:crypto';
import { aRoute, askHttp2, hello, readAll, ServerWorld, servingPair } from '../../testing/server-world.ts';
import type { ServerWorldOptions } from '../../testing/server-world.ts';
import { TlsAuthority } from '../../testing/tls-authority.ts';
import type { Caller } from '../../model/caller.ts';
import type { Credentials } from '../auth/ports.ts';
import { text } from '../route.ts';

const worlds: ServerWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

async function open(options: Partial<ServerWorldOptions> = {}): Promise<ServerWorld> {
  const world = await ServerWorld.open({ routes: [aRoute(hello)], listeners: ['secure'], ...options });
  worlds.push(world);
  return world;
}

/** The connection after its handshake; rejects when there is none. */
async function handshake(world: ServerWorld, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const to = { host: '127.0.0.1', port: world.port('secure'), ca: world.authority.certificate };
  const socket = connectTls({ ...to, ALPNProtocols: ['h2', 'http/1.1'], ...options });
  await once(socket, 'secureConnect');
  socket.on('error', () => {});
  return socket;
}

const who = async ({ chain = [], bearer }: Credentials): Promise<Caller> => ({
  name: bearer ?? chain.map((der) => new X509Certificate(der).subject).join(' / '),
  groups: [],
});
const whoAmI = aRoute(async ({ caller }) => text(200, caller?.name ?? ''));

describe('both versions of HTTP', () => {
  test('HTTP/1.1', async () => {
    const world = await open();
    const { status, body, headers } = await world.ask('secure', '/hello?name=me');
    assert.deepEqual([status, body, headers['content-length']], [200, 'hello me', '8']);
  });

  test('HTTP/2, many requests on one connection, HEAD and unknown paths too', async () => {
    const world = await open();
    const session = world.http2();
    const answers = await Promise.all(Array.from({ length: 90 }, (_, n) => askHttp2(session, `/hello?name=${n}`)));
    assert.deepEqual(
      answers.map(({ body }) => body),
      Array.from({ length: 90 }, (_, n) => `hello ${n}`),
    );
    const head = await askHttp2(session, '/hello', { ':method': 'HEAD' });
    assert.deepEqual([head.status, head.body, head.headers['content-length']], [200, '', '9']);
    assert.equal((await askHttp2(session, '/nothing')).status, 404);
    session.close();
  });

  test('the client chooses; a protocol that is not configured is refused', async () => {
    const world = await open();
    for (const [offer, chosen] of [
      [['h2', 'http/1.1'], 'h2'],
      [['http/1.1', 'h2'], 'h2'],
      [['http/1.1'], 'http/1.1'],
    ] as const) {
      const socket = await handshake(world, { ALPNProtocols: [...offer] });
      assert.equal(socket.alpnProtocol, chosen);
      socket.destroy();
    }
    await assert.rejects(handshake(world, { ALPNProtocols: ['smtp'] }), /no application protocol/i);
  });
});

describe('who asks', () => {
  test('certificates are asked for, and those that are shown reach the authenticator, trusted or not', async () => {
    const world = await open({ routes: [whoAmI], authenticate: who });
    const client = await world.authority.client('jane', ['devs']);
    assert.match((await world.ask('secure', '/hello', { client })).body, /jane/);
    assert.equal((await world.ask('secure', '/hello')).body, '');
    const foreign = await (await TlsAuthority.create('elsewhere')).client('mallory');
    assert.match((await world.ask('secure', '/hello', { client: foreign })).body, /mallory/);

    const session = world.http2({ cert: client.certificate, key: client.key });
    assert.match((await askHttp2(session, '/hello')).body, /jane/);
    assert.equal((await askHttp2(session, '/hello', { authorization: 'Bearer t' })).body, 't');
    session.close();
  });

  test('without authorities no client is asked for a certificate', async () => {
    const world = await open({ routes: [whoAmI], authenticate: who, withoutClientAuthorities: true });
    const client = await world.authority.client('jane');
    assert.equal((await world.ask('secure', '/hello', { client })).body, '');
  });

  test('the certificate comes along with every connection: sessions are not resumed', async () => {
    const world = await open({ routes: [whoAmI], authenticate: who });
    const first = await handshake(world, { ALPNProtocols: ['http/1.1'] });
    const sessions: Buffer[] = [];
    first.on('session', (session: Buffer) => sessions.push(session));
    first.write('GET /hello HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n');
    await readAll(first);
    for (const session of sessions) {
      const second = await handshake(world, { session });
      assert.equal(second.isSessionReused(), false);
      second.destroy();
    }
  });
});

describe('certificates that change', () => {
  const served = (socket: TLSSocket): string => socket.getPeerX509Certificate()?.serialNumber ?? '';

  test('a new serving certificate is shown to new connections; old ones go on', async () => {
    const world = await open();
    const before = await handshake(world, { ALPNProtocols: ['http/1.1'] });
    const first = served(before);
    world.identity.replace(servingPair(await world.authority.server()));
    const after = await handshake(world);
    assert.notEqual(served(after), first);
    after.destroy();
    before.write('GET /hello HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n');
    assert.match(await readAll(before), /hello you$/);
  });

  test('one that cannot be used changes nothing, and is logged', async () => {
    const world = await open();
    const [one, two] = [await world.authority.server(), await world.authority.server()];
    world.identity.replace(servingPair({ certificate: one.certificate, key: two.key }));
    assert.equal((await world.ask('secure', '/hello')).status, 200);
    assert.deepEqual(world.log.messages('error'), ['New certificates cannot be used; those before stay']);
  });

  test('as long as there is none connections are refused, and then served', async () => {
    const world = await open({ withoutCertificate: true });
    await assert.rejects(world.ask('secure', '/hello'));
    world.identity.replace(servingPair(await world.authority.server()));
    assert.equal((await world.ask('secure', '/hello')).status, 200);
  });

  test('other authorities are offered to clients from then on', async () => {
    const world = await open({ routes: [whoAmI], authenticate: who });
    world.clientPem.replace('');
    assert.equal((await world.ask('secure', '/hello')).status, 200);
    world.clientPem.replace('nonsense');
    assert.equal((await world.ask('secure', '/hello')).status, 200);
  });

  test('no connection is accepted after the stop', async () => {
    const world = await open();
    assert.deepEqual([world.identity.listeners.size, world.clientPem.listeners.size], [1, 1]);
    await world.close();
    assert.deepEqual([world.identity.listeners.size, world.clientPem.listeners.size], [0, 0]);
  });
});

describe('versions and suites', () => {
  test('TLS 1.2 and 1.3, nothing older', async () => {
    const world = await open();
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    await assert.rejects(handshake(world, old), /alert protocol version|unsupported protocol/i);
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const socket = await handshake(world, { minVersion: version, maxVersion: version });
      assert.equal(socket.getProtocol(), version);
      socket.destroy();
    }
  });

  test('a minimum that is higher', async () => {
    const world = await open({ tls: { minVersion: 'VersionTLS13' } });
    await assert.rejects(handshake(world, { maxVersion: 'TLSv1.2' }), /alert protocol version/i);
    world.identity.replace(servingPair(await world.authority.server()));
    await assert.rejects(handshake(world, { maxVersion: 'TLSv1.2' }), /alert protocol version/i, 'nor after a change');
  });

  test('the suites that were chosen, and no others', async () => {
    const world = await open({
      tls: { cipherSuites: ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', 'TLS_RSA_WITH_RC4_128_SHA'] },
    });
    assert.deepEqual(world.log.messages('warn'), ['Cipher suites are left out that the TLS library does not have']);
    const socket = await handshake(world, { maxVersion: 'TLSv1.2' });
    assert.equal(socket.getCipher().name, 'ECDHE-ECDSA-AES256-GCM-SHA384');
    socket.destroy();
    const other = { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' } as const;
    await assert.rejects(handshake(world, other), /handshake failure/i);
  });
});

describe('what is no TLS', () => {
  test('garbage, half a greeting, plain HTTP, nothing at all: ended, and others are served', async () => {
    const world = await open({ limits: { handshakeMs: 1_000 } });
    const port = world.port('secure');
    const half = Buffer.from('16030100f8010000f403030000', 'hex');
    const say = async (words: string | Buffer): Promise<string> => {
      const socket = connectPlain(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.write(words);
      return readAll(socket);
    };
    const heard = await Promise.all(
      ['GET /hello HTTP/1.1\r\nHost: node\r\n\r\n', Buffer.alloc(70_000, 1), half, ''].map(say),
    );
    for (const answer of heard) assert.doesNotMatch(answer, /hello/);
    const broken = connectPlain(port, '127.0.0.1');
    await once(broken, 'connect');
    broken.write(half, () => broken.resetAndDestroy());
    await once(broken, 'close');
    assert.equal((await world.ask('secure', '/hello')).status, 200);
    assert.deepEqual(world.log.messages('error'), []);
  });

  test('a port that is taken', async () => {
    const world = await open();
    await assert.rejects(
      open({ port: world.port('secure') }),
      /cannot listen for secure on 127.0.0.1:\d+: another program/,
    );
  });
});
