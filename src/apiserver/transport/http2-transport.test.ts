import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2, { type Http2SecureServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { before, describe, test, type TestContext } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { TubeletError } from '../../base/errors.ts';
import { systemClock } from '../../base/system-clock.ts';
import type { Clock } from '../../base/clock.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { TlsAuthority } from '../../testing/tls-authority.ts';
import { tlsMaterial } from '../credentials/file-tls.ts';
import type { TlsMaterial, TransportAnswer, TransportRequest } from '../ports.ts';
import { connectTls, type TlsPeer } from './connect-tls.ts';
import { Http2Transport } from './http2-transport.ts';

let authority: TlsAuthority;
before(async () => {
  authority = await TlsAuthority.create();
});

type Handler = (stream: ServerHttp2Stream, path: string) => void;

async function serve(context: TestContext, handler: Handler, settings: http2.Settings = {}) {
  const { certificate, key } = await authority.server(['localhost', 'api.example']);
  const server = http2.createSecureServer({
    cert: certificate,
    key,
    ca: authority.certificate,
    requestCert: true,
    rejectUnauthorized: false,
    settings,
  });
  const sessions: ServerHttp2Session[] = [];
  const sockets: TLSSocket[] = [];
  server.on('secureConnection', (socket) => sockets.push(socket));
  server.on('session', (session) => {
    sessions.push(session);
    session.on('error', () => {});
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    handler(stream, headers[':path'] ?? '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => closeServer(server, sessions));
  return { server, sessions, sockets, port: (server.address() as AddressInfo).port };
}

/** A path to a server on which everything can get stuck without an error. */
async function wayTo(context: TestContext, port: number) {
  const ends: Socket[] = [];
  const way = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    near.pipe(far).pipe(near);
    for (const end of [near, far]) end.on('error', () => {});
    ends.push(near, far);
  });
  way.listen(0, '127.0.0.1');
  await once(way, 'listening');
  const freeze = (): void => {
    for (const end of ends) end.unpipe().pause();
  };
  context.after(() => {
    for (const end of ends) end.destroy();
    way.close();
  });
  return { port: (way.address() as AddressInfo).port, freeze };
}

function closeServer(server: Http2SecureServer, sessions: readonly ServerHttp2Session[]): void {
  for (const session of sessions) session.destroy();
  server.close();
}

function open(
  context: TestContext,
  port: number,
  more: Partial<TlsPeer> & { clock?: Clock; material?: () => TlsMaterial } = {},
) {
  const { clock = systemClock(), material = () => tlsMaterial(authority.certificate), ...peerOptions } = more;
  const peer: TlsPeer = { server: new URL(`https://127.0.0.1:${port}`), ...peerOptions };
  const transport = new Http2Transport({
    server: peer.server,
    tls: { current: async () => material() },
    clock,
    log: new MemoryLog(),
    connect: (tls, signal) => connectTls(peer, tls, signal),
  });
  context.after(() => transport.close());
  const send = (path: string, request: Partial<TransportRequest> = {}): Promise<TransportAnswer> =>
    transport.send({ method: 'GET', path, headers: {}, signal: new AbortController().signal, ...request });
  return { transport, send };
}

async function textOf({ body }: TransportAnswer): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

const echo: Handler = (stream, path) => {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('end', () => {
    stream.respond({ ':status': 200, 'x-name': 'value' });
    stream.end(`${path} ${Buffer.concat(chunks).toString('utf8')}`);
  });
};

describe('requests', () => {
  test('and answers share one connection', async (context) => {
    const { port, sessions } = await serve(context, echo);
    const { send } = open(context, port, { server: new URL(`https://127.0.0.1:${port}/prefix/`) });
    const answers = await Promise.all([send('/a?b=c'), send('/d', { method: 'POST', body: 'ä'.repeat(100_000) })]);
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers['x-name']]),
      [
        [200, 'value'],
        [200, 'value'],
      ],
    );
    assert.deepEqual(await Promise.all(answers.map(textOf)), ['/prefix/a?b=c ', `/prefix/d ${'ä'.repeat(100_000)}`]);
    assert.equal(sessions.length, 1);
  });

  test('beyond the streams of a connection open another one', async (context) => {
    const served = new Set<ServerHttp2Stream>();
    const { port, sessions } = await serve(
      context,
      (stream) => {
        served.add(stream);
        stream.once('close', () => served.delete(stream));
        stream.respond({ ':status': 200 });
        stream.write('x');
      },
      { maxConcurrentStreams: 10 },
    );
    const { send, transport } = open(context, port);
    const first = await send('/0');
    const iterators = [first.body[Symbol.asyncIterator]()];
    await iterators[0]!.next();
    const answers = await Promise.all(Array.from({ length: 24 }, (_, index) => send(`/${index}`)));
    assert.equal(sessions.length, 3);
    for (const { body } of answers) for await (const _ of body) break;
    assert.equal(transport.connections, 3);
    // Until it has taken leave of them, a server of Node.js 24 counts streams that were cancelled.
    while (served.size > 1) await new Promise(setImmediate);
    await send('/again');
    assert.equal(sessions.length, 3);
  });

  test('given up reach the server as cancelled', async (context) => {
    let seen: ServerHttp2Stream | undefined;
    const { port } = await serve(context, (stream) => {
      seen = stream;
      stream.respond({ ':status': 200 });
      stream.write('x');
    });
    const { send } = open(context, port);
    const abort = new AbortController();
    const { body } = await send('/watch', { signal: abort.signal });
    const iterator = body[Symbol.asyncIterator]();
    await iterator.next();
    const closed = once(seen!, 'close');
    const reason = new TubeletError('timeout', 'too late');
    abort.abort(reason);
    await assert.rejects(iterator.next(), reason);
    await closed;
    assert.equal(seen!.rstCode, http2.constants.NGHTTP2_CANCEL);
  });

  test('left in the middle reach the server too', async (context) => {
    let seen: ServerHttp2Stream | undefined;
    const { port } = await serve(context, (stream) => {
      seen = stream;
      stream.respond({ ':status': 200 });
      stream.write('x');
    });
    const { send } = open(context, port);
    const { body } = await send('/watch');
    for await (const _ of body) break;
    if (!seen!.closed) await once(seen!, 'close');
  });

  test('without an answer end with their signal', async (context) => {
    const { port } = await serve(context, () => {});
    const { send } = open(context, port);
    const abort = new AbortController();
    const sent = assert.rejects(send('/', { signal: abort.signal }), { kind: 'cancelled' });
    setImmediate(() => abort.abort());
    await sent;
  });
});

describe('the server', () => {
  test('that breaks off in the middle of a body is unavailable', async (context) => {
    const { port, sessions, sockets } = await serve(context, (stream) => {
      stream.respond({ ':status': 200 });
      stream.write('half');
    });
    const { send, transport } = open(context, port);
    for (const breakOff of [() => sessions.at(-1)!.destroy(), () => sockets.at(-1)!.destroy()]) {
      const { body } = await send('/');
      const iterator = body[Symbol.asyncIterator]();
      assert.equal(Buffer.from((await iterator.next()).value as Uint8Array).toString(), 'half');
      breakOff();
      await assert.rejects(iterator.next(), { kind: 'unavailable' });
    }
    assert.equal(transport.connections, 0);
  });

  test('that sends GOAWAY finishes its streams, and the next request uses another connection', async (context) => {
    let release = (): void => {};
    const { port, sessions } = await serve(context, (stream, path) => {
      stream.respond({ ':status': 200 });
      if (path !== '/slow') stream.end('quick');
      else release = () => stream.end('slow');
    });
    const { send } = open(context, port);
    const slow = await send('/slow');
    sessions[0]!.goaway();
    assert.equal(await textOf(await send('/quick')), 'quick');
    // GOAWAY may be read after that; then the next one sees it.
    assert.equal(await textOf(await send('/quick')), 'quick');
    assert.equal(sessions.length, 2);
    release();
    assert.equal(await textOf(slow), 'slow');
  });

  test('that is missing is named', async (context) => {
    const { port, server } = await serve(context, echo);
    server.close();
    await once(server, 'close');
    const { send } = open(context, port);
    await assert.rejects(send('/'), { kind: 'unavailable', message: /127\.0\.0\.1:\d+: connect ECONNREFUSED/ });
  });

  test('that answers no PING is given up', async (context) => {
    const { port, sessions } = await serve(context, (stream, path) => {
      if (path === '/after') stream.respond({ ':status': 204 }, { endStream: true });
      else {
        stream.respond({ ':status': 200 });
        stream.write('x');
      }
    });
    const clock = new FakeClock();
    const way = await wayTo(context, port);
    const { send, transport } = open(context, way.port, { clock });
    const { body } = await send('/');
    const iterator = body[Symbol.asyncIterator]();
    await iterator.next();
    const pinged = once(sessions[0]!, 'ping');
    await clock.advance(30_000);
    await pinged;
    way.freeze();
    const ended = assert.rejects(iterator.next(), { kind: 'unavailable', message: /no answer to a PING in 15 s/ });
    await clock.advance(60_000);
    await ended;
    assert.equal(transport.connections, 0);
    assert.equal((await send('/after')).status, 204);
    assert.equal(sessions.length, 2);
  });

  test('that let a request time out is asked whether it lives, and meanwhile another connection is used', async (context) => {
    const { port, sessions } = await serve(context, (stream, path) => {
      if (path !== '/silent') stream.respond({ ':status': 204 }, { endStream: true });
    });
    const clock = new FakeClock();
    const way = await wayTo(context, port);
    const { send, transport } = open(context, way.port, { clock });
    await send('/');
    way.freeze();
    const abort = new AbortController();
    const silent = assert.rejects(send('/silent', { signal: abort.signal }), { kind: 'timeout' });
    await clock.settle();
    abort.abort(new TubeletError('timeout', 'too late'));
    await silent;
    assert.equal((await send('/next')).status, 204);
    assert.equal(sessions.length, 2);
    await clock.advance(15_000);
    assert.equal(transport.connections, 1);
  });

  test('that closes every connection is not asked for ever', async (context) => {
    const { port, server, sessions } = await serve(context, echo);
    server.on('session', (session) => session.destroy());
    const { send } = open(context, port);
    await assert.rejects(send('/'), { kind: 'unavailable' });
    assert.ok(sessions.length <= 4, `${sessions.length} connections`);
  });

  test('closes idle connections', async (context) => {
    const { port } = await serve(context, echo);
    // Moved by hand: virtual time would go on before a real PING is answered.
    let now = 0;
    const ticks: (() => void)[] = [];
    const after: Clock['after'] = (ms, callback) => {
      if (ms === 30_000) ticks.push(callback);
      return () => {};
    };
    const clock: Clock = { now: () => now, monotonic: () => now, sleep: async () => {}, after };
    const { send, transport } = open(context, port, { clock });
    await textOf(await send('/'));
    now = 200_000;
    ticks.at(-1)!();
    assert.equal(transport.connections, 1);
    now = 300_000;
    while (transport.connections > 0) {
      ticks.at(-1)!();
      await new Promise((resolve) => setImmediate(resolve));
    }
  });

  test('that may be half dead gets no new request after a reset', async (context) => {
    const { port, sessions } = await serve(context, (stream) => {
      stream.respond({ ':status': 200 });
      stream.write('x');
    });
    const clock = new FakeClock();
    const { send, transport } = open(context, port, { clock });
    const { body } = await send('/watch');
    const iterator = body[Symbol.asyncIterator]();
    await iterator.next();
    await clock.advance(2_000);
    transport.reset();
    transport.reset();
    await send('/next');
    assert.equal(sessions.length, 2);
    // The living connection finishes its streams.
    assert.equal(transport.connections, 2);
    await iterator.return?.();
  });
});

describe('certificates', () => {
  const common = (stream: ServerHttp2Stream) => (stream.session!.socket as TLSSocket).getPeerCertificate().subject?.CN;
  const who: Handler = (stream) => {
    stream.respond({ ':status': 200 });
    stream.end(common(stream) ?? 'none');
  };

  test('of the server are verified, with a hint to the operator', async (context) => {
    const { port } = await serve(context, who);
    const stranger = await TlsAuthority.create();
    const refused = open(context, port, { material: () => tlsMaterial(stranger.certificate) });
    await assert.rejects(refused.send('/'), {
      kind: 'unavailable',
      message: /certificate-authority of the kubeconfig/,
    });
    const unknown = open(context, port, { material: () => tlsMaterial() });
    await assert.rejects(unknown.send('/'), { kind: 'unavailable' });
    const misnamed = open(context, port, { tlsServerName: 'other.example' });
    await assert.rejects(misnamed.send('/'), { kind: 'unavailable', message: /set tls-server-name/ });
    assert.equal((await open(context, port, { tlsServerName: 'api.example' }).send('/')).status, 200);
    assert.equal((await open(context, port, { server: new URL(`https://localhost:${port}`) }).send('/')).status, 200);
    const careless = open(context, port, { material: () => tlsMaterial(), insecureSkipTlsVerify: true });
    assert.equal((await careless.send('/')).status, 200);
  });

  test('of ours are used, and a new one means a new connection while the old one finishes', async (context) => {
    let release = (): void => {};
    const { port, sessions } = await serve(context, (stream, path) => {
      if (path !== '/watch') {
        who(stream, path);
        return;
      }
      stream.respond({ ':status': 200 });
      stream.write('x');
      release = () => stream.end(common(stream));
    });
    const [first, second] = await Promise.all([authority.client('first'), authority.client('second')]);
    let mine = first;
    const material = () => tlsMaterial(authority.certificate, mine.certificate, mine.key);
    const clock = new FakeClock();
    const { send, transport } = open(context, port, { material, clock });
    const watch = await send('/watch');
    assert.equal(await textOf(await send('/')), 'first');
    mine = second;
    assert.equal(await textOf(await send('/')), 'second');
    assert.equal(sessions.length, 2);
    // A silent watch on the old one is asked for signs of life like any other, and is not cut off.
    const pinged = once(sessions[0]!, 'ping');
    await clock.advance(30_000);
    await pinged;
    transport.reset();
    release();
    assert.equal(await textOf(watch), 'xfirst');
    while (transport.connections > 1) await new Promise((resolve) => setImmediate(resolve));
  });
});

test('closing ends everything', async (context) => {
  const { port } = await serve(context, (stream) => {
    stream.respond({ ':status': 200 });
    stream.write('x');
  });
  const { send, transport } = open(context, port);
  const { body } = await send('/');
  const iterator = body[Symbol.asyncIterator]();
  await iterator.next();
  await transport.close();
  await assert.rejects(iterator.next(), { kind: 'cancelled' });
  await assert.rejects(send('/'), { kind: 'cancelled' });
});
