import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectPlain, type Socket } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import {
  aRoute,
  askHttp2,
  gate,
  hello,
  readAll,
  ServerWorld,
  streamOf,
  type ServerWorldOptions,
} from '../../testing/server-world.ts';
import { text } from '../route.ts';

const worlds: ServerWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) {
    assert.deepEqual(world.log.messages('error'), []);
    await world.close();
    // The end of a connection is noticed a moment later.
    while (world.pipeline.underWay > 0) await nextTurn();
  }
});

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const stuck = aRoute(() => new Promise(() => {}), { path: '/stuck' });

const upload = aRoute(async ({ body }) => text(200, `${body.length}`), {
  path: '/upload',
  methods: ['POST'],
  bodyBytes: 10_000,
});

async function open(limits: ServerWorldOptions['limits'] = {}, options: Partial<ServerWorldOptions> = {}) {
  const world = await ServerWorld.open({ routes: [aRoute(hello), upload], limits, ...options });
  worlds.push(world);
  return world;
}

const get = 'GET /hello HTTP/1.1\r\nHost: node\r\n';
const both = ['secure', 'readOnly'] as const;

for (const listener of both) {
  const say = async (world: ServerWorld, ...words: readonly (string | Buffer)[]): Promise<string> => {
    const socket = world.connect(listener);
    const heard = readAll(socket);
    for (const word of words) socket.write(word);
    return heard;
  };

  describe(`HTTP/1.1 on ${listener}`, () => {
    test('headers over 32 KiB are refused, just below are served', async () => {
      const world = await open();
      const header = (size: number): string => `X-A: ${'a'.repeat(size)}\r\nConnection: close\r\n\r\n`;
      assert.match(await say(world, get, header(31 * 1_024)), /^HTTP\/1\.1 200 /);
      assert.match(await say(world, get, header(33 * 1_024)), /^HTTP\/1\.1 431 |^$/);
      assert.match(await say(world, `GET /${'a'.repeat(1 << 20)} HTTP/1.1\r\n`), /^HTTP\/1\.1 431 |^$/);
      assert.equal((await world.ask(listener, '/hello')).status, 200);
    });

    test('as many headers as there may be are served; with more some would be left out, so it is refused', async () => {
      const world = await open();
      const headers = (count: number): string =>
        Array.from({ length: count }, (_, n) => `X-${n}: a\r\n`).join('') + 'Connection: close\r\n\r\n';
      assert.match(await say(world, get, headers(250)), /^HTTP\/1\.1 200 /);
      for (const count of [254, 255, 1_000]) assert.match(await say(world, get, headers(count)), /^HTTP\/1\.1 431 /);
    });

    test('what is not HTTP, or tries to be two requests in one', async () => {
      const world = await open();
      for (const words of [
        '\0\u0001\r\n\r\n',
        'GET\r\n\r\n',
        'GET /hello HTTP/9.9\r\nHost: a\r\n\r\n',
        'GET /hello HTTP/1.1\r\n\r\n',
        'GET /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
        'POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
        'POST /upload HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n',
        'POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n',
        `${get}X-A: a\0b\r\n\r\n`,
        'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      ]) {
        assert.match(await say(world, words), /^HTTP\/1\.1 400 /, JSON.stringify(words));
      }
      assert.equal(await say(world, 'CONNECT elsewhere:80 HTTP/1.1\r\nHost: elsewhere\r\n\r\n'), '');
      assert.match(
        await say(world, 'POST /upload HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'),
        /400/,
      );
    });

    test('many requests at once on one connection are answered in order', async () => {
      const world = await open();
      const words = Array.from({ length: 50 }, (_, n) => `GET /hello?name=${n} HTTP/1.1\r\nHost: node\r\n\r\n`);
      const heard = await say(world, words.join(''), `${get}Connection: close\r\n\r\n`);
      assert.deepEqual(
        [...heard.matchAll(/hello (\d+|you)/g)].map(([, name]) => name),
        [...Array.from({ length: 50 }, (_, n) => `${n}`), 'you'],
      );
    });

    test('what is refused behind a request does not become part of its answer', async () => {
      const begun = gate();
      const slow = aRoute(() => new Promise(() => {}), { path: '/slow' });
      const endless = aRoute(
        async () =>
          streamOf(async (sink) => {
            await sink.write('a part');
            begun.open();
            await new Promise(() => {});
          }),
        { path: '/endless' },
      );
      const world = await open({}, { routes: [slow, endless] });
      const ask = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: node\r\n\r\n`;
      // It would be taken for the answer to the first.
      assert.equal(await say(world, ask('/slow'), 'nonsense\r\n\r\n'), '');
      assert.equal(
        await say(world, `${ask('/slow')}GET /slow HTTP/1.1\r\nHost: node\r\nContent-Length: x\r\n\r\n`),
        '',
      );
      const socket = world.connect(listener);
      const heard = readAll(socket);
      socket.write(ask('/endless'));
      await begun.opened;
      await once(socket, 'data');
      socket.write('nonsense\r\n\r\n');
      assert.match(await heard, /^HTTP\/1\.1 200 .*6\r\na part\r\n$/s);
    });

    test('half a request that never goes on: headers, body, nothing', async () => {
      const world = await open({ headersMs: 40, requestMs: 80, checkMs: 10 });
      assert.match(await say(world, 'GET /hel'), /^HTTP\/1\.1 408 /);
      assert.match(await say(world, `${get}X-A: `), /^HTTP\/1\.1 408 /);
      assert.match(await say(world), /^HTTP\/1\.1 408 |^$/);
      assert.match(
        await say(world, 'POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab'),
        /^HTTP\/1\.1 408 /,
      );
    });

    test('a request that trickles', async () => {
      const world = await open({ headersMs: 60, requestMs: 80, checkMs: 10 });
      const socket = world.connect(listener);
      const heard = readAll(socket);
      socket.write(get);
      const timer = setInterval(() => socket.writable && socket.write('X-A: b\r\n'), 5);
      assert.match(await heard, /^HTTP\/1\.1 408 /);
      clearInterval(timer);
    });

    test('clients that break off anywhere', async () => {
      const world = await open();
      const whole = `POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcde`;
      for (let at = 1; at <= whole.length; at += 5) {
        const socket = world.connect(listener);
        socket.on('error', () => {});
        await once(socket, listener === 'secure' ? 'secureConnect' : 'connect');
        socket.write(whole.slice(0, at));
        if (at % 2 === 0 && listener === 'readOnly') socket.resetAndDestroy();
        else socket.destroy();
        await once(socket, 'close');
      }
      assert.equal((await world.ask(listener, '/hello')).status, 200);
    });

    test('a body that does not end is not read for ever', async () => {
      const world = await open({ headersMs: 1_000, requestMs: 1_000, checkMs: 10 });
      const socket = world.connect(listener);
      const heard = readAll(socket);
      socket.write('POST /upload HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
      const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
      const timer = setInterval(() => socket.writable && socket.write(chunk), 5);
      assert.match(await heard, /^HTTP\/1\.1 413 /);
      clearInterval(timer);
    });

    test('a connection without requests ends', async () => {
      const world = await open({ idleMs: 20 });
      assert.match(await say(world, `${get}\r\n`), /hello you$/);
    });

    test('when there are more connections than there may be, the oldest silent one gives way', async () => {
      const world = await open({ unauthenticatedConnections: { inAll: 9, each: 3 } });
      const silent = Array.from({ length: 3 }, () => connectPlain(world.port(listener), '127.0.0.1').resume());
      await Promise.all(silent.map((socket) => once(socket, 'connect')));
      const ended = once(silent[0] as Socket, 'close');
      const another = connectPlain(world.port(listener), '127.0.0.1');
      await ended;
      assert.equal((await world.ask(listener, '/hello')).status, 200);
      assert.equal(another.destroyed, false);
      for (const socket of [...silent, another]) socket.destroy();
    });

    test('requests behind each other without end are ended', async () => {
      const world = await open({ unanswered: { usually: 20, whenBusy: 20, busyPerTurn: 500 } }, { routes: [stuck] });
      const heard = await say(world, 'GET /stuck HTTP/1.1\r\nHost: node\r\n\r\n'.repeat(30));
      assert.equal(heard, '');
    });
  });
}

describe('HTTP/2', () => {
  test('more streams at a time than there may be are refused one by one', async () => {
    const opened = { release: () => {} };
    const wait = new Promise<void>((resolve) => (opened.release = resolve));
    const slow = aRoute(async () => {
      await wait;
      return text(200, 'slow');
    });
    const world = await open({ streamsPerConnection: 20 }, { routes: [slow] });
    const session = world.http2({ peerMaxConcurrentStreams: 1_000 });
    const outcomes: Promise<string>[] = [];
    await once(session, 'remoteSettings');
    assert.equal(session.remoteSettings.maxConcurrentStreams, 20);
    for (let n = 0; n < 60; n++) {
      outcomes.push(
        askHttp2(session, '/hello').then(
          ({ body }) => body,
          (error: Error) => error.message,
        ),
      );
    }
    opened.release();
    const bodies = await Promise.all(outcomes);
    assert.ok(bodies.filter((body) => body === 'slow').length >= 20);
    session.destroy();
    const other = world.http2();
    assert.equal((await askHttp2(other, '/hello')).body, 'slow');
    other.close();
  });

  test('streams that are opened and reset again and again', async () => {
    const world = await open();
    const socket = world.connect('secure', { ALPNProtocols: ['h2'] }) as TLSSocket;
    await once(socket, 'secureConnect');
    const ended = readAll(socket);
    const frames = Array.from({ length: 10_000 }, (_, n) => {
      const stream = (2 * n + 1).toString(16).padStart(8, '0');
      // GET /hello of the authority n, and that it is cancelled, for any reason there is.
      return `00000d0105${stream} 82 87 04 06 2f68656c6c6f 01 01 6e 0000040300${stream}0000000${(n % 14).toString(16)}`;
    });
    const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n').toString('hex');
    socket.write(Buffer.from([preface, '000000040000000000', ...frames].join('').replaceAll(' ', ''), 'hex'));
    await ended;
    const [, served = ''] = /^kubelet_http_requests_total\{.*\} (\d+)$/m.exec(world.registry.render()) ?? [];
    // Only those whose end came with other bytes than they themselves.
    assert.ok(Number(served) < 200, `${served} were served before the connection was given up`);
    assert.equal((await askHttp2(world.http2(), '/hello')).status, 200);
  });

  test('headers up to 32 KiB, and to 64 once it is known who asks', async () => {
    const world = await open();
    const session = world.http2({ maxSendHeaderBlockLength: 1 << 20 });
    const ask = async (kib: number): Promise<number | 'reset'> => {
      const answer = askHttp2(session, '/hello', { 'x-a': 'a'.repeat(kib * 1_024) });
      return answer.then(
        ({ status }) => status,
        () => 'reset',
      );
    };
    assert.equal(await ask(33), 431, 'before the client has heard of the limit');
    assert.equal(await ask(33), 'reset');
    assert.equal(await ask(31), 200);
    while (session.remoteSettings.maxHeaderListSize !== 64 * 1_024) await once(session, 'remoteSettings');
    assert.equal(await ask(60), 200);
    assert.equal(await ask(66), 'reset');
    session.destroy();
  });

  test('streams that are opened and given up end an unauthenticated connection', async () => {
    const world = await open({ unanswered: { usually: 20, whenBusy: 20, busyPerTurn: 500 } }, { routes: [stuck] });
    const session = world.http2();
    session.on('error', () => {});
    const ended = once(session, 'close');
    for (let n = 0; n < 30; n++) session.request({ ':path': '/stuck' }).on('error', () => {});
    await ended;
  });

  test('headers that are too many or too large cost the stream, not the agent', async () => {
    const world = await open();
    const session = world.http2({ maxSendHeaderBlockLength: 1 << 23 });
    session.on('error', () => {});
    await assert.rejects(askHttp2(session, '/hello', { 'x-a': 'a'.repeat(1 << 21) }));
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`x-${n}`, 'a']));
    await assert.rejects(
      askHttp2(
        world.http2().on('error', () => {}),
        '/hello',
        many,
      ),
    );
    session.destroy();
    assert.equal((await askHttp2(world.http2(), '/hello')).status, 200);
  });

  test('garbage after the handshake, frames cut short', async () => {
    const world = await open();
    const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    for (const words of [
      'nonsense'.repeat(10),
      preface,
      Buffer.concat([preface, Buffer.from('0000ff0400', 'hex')]),
      Buffer.concat([preface, Buffer.from('000000040000000000', 'hex'), Buffer.alloc(500, 0xff)]),
      Buffer.concat([
        preface,
        Buffer.from('000000040000000000', 'hex'),
        Buffer.from('000004010400000001ffffffff', 'hex'),
      ]),
    ]) {
      const socket = world.connect('secure', { ALPNProtocols: ['h2'] }) as TLSSocket;
      await once(socket, 'secureConnect');
      const heard = readAll(socket);
      socket.end(words);
      await heard;
    }
    assert.equal((await world.ask('secure', '/hello')).status, 200);
  });

  test('a body that stops halfway is answered 408, one stream alone', async () => {
    const world = await open({ headersMs: 40, requestMs: 40 });
    const session = world.http2();
    const stream = session.request({ ':path': '/upload', ':method': 'POST' });
    stream.write('half');
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
    assert.equal(headers[':status'], 408);
    stream.resume();
    await once(stream, 'close');
    assert.equal((await askHttp2(session, '/hello')).status, 200);
    session.close();
  });
});
