import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { accepted, asks, HandOverWorld } from '../../testing/hand-over-world.ts';
import { StreamEnd } from '../../testing/streaming-ends.ts';
import { TlsAuthority, type IssuedCertificate } from '../../testing/tls-authority.ts';

const folder = mkdtempSync(join(tmpdir(), 'hand-over-'));
after(() => rmSync(folder, { recursive: true }));

let world: HandOverWorld;
beforeEach(async () => {
  world = new HandOverWorld();
  await world.start();
});
afterEach(() => world.end());

describe('no session', () => {
  const words = 'cannot reach the streaming server of the container runtime';

  async function answerOf(client: StreamEnd): Promise<string> {
    await client.heardEnd();
    client.socket.end();
    await client.closed();
    return client.text;
  }

  test('no server listens at the address', async () => {
    const nowhere = world.target();
    world.target = () => nowhere;
    await world.useSocket(join(folder, 'other.sock'));
    const client = world.front.connect();
    client.socket.write(asks());
    const answer = await answerOf(client);
    assert.match(answer, /^HTTP\/1\.1 500 Internal Server Error\r\nContent-Type: text\/plain; charset=utf-8\r\n/);
    assert.ok(answer.endsWith(`\r\n\r\n${words}: ECONNREFUSED\n`));
    assert.doesNotMatch(answer, /127\.0\.0\.1/, 'addresses are for the log');
    assert.deepEqual(world.log.messages('error'), [
      'A streaming session could not be handed over to the container runtime',
    ]);
  });

  test('the runtime ends the connection without a word', async () => {
    const client = world.front.connect();
    client.socket.write(asks());
    (await world.runtime.next()).socket.end('HTTP/1.1');
    assert.match(await answerOf(client), /^HTTP\/1\.1 500 [^]*it ended the connection without an answer\n$/);
  });

  test('the runtime says nothing for too long', async () => {
    const client = world.front.connect();
    client.socket.write(asks());
    await (await world.runtime.next()).received('\r\n\r\n');
    await world.clock.advance(30_000);
    assert.match(await answerOf(client), /^HTTP\/1\.1 500 [^]*no answer within 30 s\n$/);
  });

  test('an answer that refuses goes through as it is, with its body, and no further request reaches the runtime', async () => {
    const client = world.front.connect();
    client.socket.write(`${asks()}GET /exec/token2 HTTP/1.1\r\nHost: x\r\n\r\n`);
    const served = await world.runtime.next();
    await served.received('\r\n\r\n');
    const answer = 'HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\ngone\n';
    served.socket.write(answer);
    await client.received('gone\n');
    client.socket.write('GET /exec/token3 HTTP/1.1\r\nHost: x\r\n\r\n');
    await served.heardEnd();
    served.socket.end();
    assert.equal(await answerOf(client), answer);
    assert.doesNotMatch(served.text, /token[23]/);
  });

  test('one who refuses and then hangs is not waited for', async () => {
    const client = world.front.connect();
    client.socket.write(asks());
    const served = await world.runtime.next();
    served.socket.write('HTTP/1.1 500 Internal Server Error\r\n\r\nhalf');
    await client.received('half');
    await world.clock.advance(30_000);
    await world.front.settled();
    await client.over();
    client.socket.destroy();
    served.socket.destroy();
  });

  for (const [name, answer] of Object.entries({
    'a redirect': 'HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\n\r\n',
    'something that is not HTTP': '\u0016\u0003\u0001 this is another protocol',
    'an interim answer': 'HTTP/1.1 100 Continue\r\n\r\n',
  })) {
    test(`${name} of the runtime never reaches the client`, async () => {
      const client = world.front.connect();
      client.socket.write(asks());
      (await world.runtime.next()).socket.write(answer);
      const got = await answerOf(client);
      assert.match(got, /^HTTP\/1\.1 502 Bad Gateway\r\n[^]*\r\n\r\nthe container runtime gave an answer of no use\n$/);
      assert.doesNotMatch(got, /elsewhere/);
    });
  }

  test('an address that is no HTTP address', async () => {
    world.target = () => new URL('file:///etc/shadow');
    const client = world.front.connect();
    client.socket.write(asks());
    assert.match(await answerOf(client), /^HTTP\/1\.1 500 [^]*has no host\n$/);
  });

  test('a client that goes while the runtime is asked', async () => {
    const client = world.front.connect();
    client.socket.write(asks());
    const served = await world.runtime.next();
    await served.received('\r\n\r\n');
    client.socket.resetAndDestroy();
    await world.front.settled();
    await served.over();
    served.socket.destroy();
    assert.deepEqual(world.log.messages('error'), []);
  });

  test('the agent stops while the runtime is asked', async () => {
    const client = world.front.connect();
    client.socket.write(asks());
    const served = await world.runtime.next();
    world.stop.abort();
    await world.front.settled();
    await client.over();
    client.socket.destroy();
    served.socket.destroy();
  });

  test('the agent has stopped already', async () => {
    world.stop.abort();
    const client = world.front.connect();
    client.socket.write(asks());
    await client.over();
    client.socket.destroy();
  });
});

describe('over TLS and sockets', () => {
  let issued: IssuedCertificate;
  before(async () => (issued = await (await TlsAuthority.create()).server()));

  test('each direction of a client’s TLS connection ends by itself', async () => {
    await world.useTls({ key: issued.key, cert: issued.certificate });
    const first = await world.open();
    first.client.socket.end('bye');
    await first.served.heardEnd();
    assert.match(first.served.text, /bye$/);
    first.served.socket.write('late');
    await first.client.received('late');
    first.served.socket.end();
    await Promise.all([first.client.closed(), first.served.closed()]);

    const second = await world.open();
    second.served.socket.end('done');
    await second.client.heardEnd();
    assert.match(second.client.text, /done$/);
    second.client.socket.end('thanks');
    await Promise.all([second.client.closed(), second.served.closed()]);
    assert.match(second.served.text, /thanks$/);
  });

  test('a streaming server with a certificate of its own on the loopback, but not elsewhere', async () => {
    let served: StreamEnd | undefined;
    const server = createTlsServer({ key: issued.key, cert: issued.certificate, allowHalfOpen: true }, (socket) => {
      socket.write(accepted);
      served = new StreamEnd(socket);
    });
    const connections: Socket[] = [];
    server.on('connection', (socket) => connections.push(socket));
    await new Promise<void>((resolve) => void server.listen(0, resolve));
    const { port } = server.address() as AddressInfo;
    world.target = () => new URL(`https://127.0.0.1:${port}/exec/token1`);
    const client = world.front.connect();
    client.socket.write(asks());
    await client.received('101 Switching Protocols');
    client.socket.end('over TLS');
    await served?.heardEnd();
    assert.match(served?.text ?? '', /^POST \/exec\/token1 [^]*over TLS$/);
    served?.socket.end();
    await client.closed();

    // Every address of this machine reaches the server, but only the loopback is known not to leave it.
    world.target = () => new URL(`https://0.0.0.0:${port}/exec/token1`);
    const other = world.front.connect();
    other.socket.write(asks());
    await other.heardEnd();
    assert.match(other.text, /^HTTP\/1\.1 500 [^]*: [A-Z_]+\n$/);
    other.socket.end();
    await world.front.settled();
    for (const connection of connections) connection.destroy();
    await new Promise((resolve) => void server.close(resolve));
  });

  test('a streaming server behind a socket', async () => {
    const path = join(folder, 'streaming.sock');
    await world.useSocket(path);
    world.target = () => new URL(`http+unix://${encodeURIComponent(path)}/exec/token1`);
    const { client, served } = await world.open();
    assert.match(served.text, /^POST \/exec\/token1 HTTP\/1\.1\r\nHost: localhost\r\n/);
    client.socket.end();
    served.socket.end();
    await Promise.all([client.closed(), served.closed()]);
  });
});
