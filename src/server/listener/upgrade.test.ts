import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import type { Caller } from '../../model/caller.ts';
import { aRoute, readAll, ServerWorld, type ServerWorldOptions } from '../../testing/server-world.ts';
import { text, type Handler, type RouteSpec } from '../route.ts';
import { handOver } from '../streaming/index.ts';
import type { HandOverFunction } from './ports.ts';

const worlds: ServerWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

const session: Partial<RouteSpec> = {
  path: '/session/{pod}',
  methods: ['GET', 'POST'],
  right: { subresource: 'proxy', alsoVerb: 'create' },
  limitMs: undefined,
  streams: 'upgrade',
};
const to = new URL('http://127.0.0.1:1/exec/token');
const handingOver: Handler = async ({ wantsUpgrade }) =>
  wantsUpgrade
    ? { kind: 'handOver', to, about: {} }
    : text(400, 'you must specify at least 1 of stdin, stdout, stderr\n');

interface Handed {
  readonly headers: IncomingHttpHeaders;
  readonly to: URL;
  readonly idleMs: number;
  readonly head: string;
}

/** Says 101 and then everything again that it hears; half-closes when the client does. */
function echoes(handed: Handed[]): HandOverFunction {
  return async ({ idleMs }, _request, socket, head, headers, url) => {
    handed.push({ headers, to: url, idleMs, head: head.toString() });
    socket.allowHalfOpen = true;
    socket.on('error', () => {});
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    socket.write(head);
    socket.pipe(socket);
    await once(socket, 'close');
  };
}

async function open(handler: Handler = handingOver, options: Partial<ServerWorldOptions> = {}, spec = session) {
  const handed: Handed[] = [];
  const world = await ServerWorld.open({ routes: [aRoute(handler, spec)], handOver: echoes(handed), ...options });
  worlds.push(world);
  return { world, handed };
}

function ask(socket: Socket, lines: readonly string[], rest = ''): Promise<string> {
  socket.write([...lines, 'Host: node', 'Connection: Upgrade', 'Upgrade: SPDY/3.1', '', rest].join('\r\n'));
  return readAll(socket);
}

describe('handing over', () => {
  for (const listener of ['secure', 'readOnly'] as const) {
    test(`bytes go through from the first on, and halves close by themselves (${listener})`, async () => {
      const { world, handed } = await open();
      const socket = world.connect(listener);
      const heard = ask(
        socket,
        ['POST /session/a?command=ls HTTP/1.1', 'X-Stream: v4', 'Authorization: Bearer t'],
        'early ',
      );
      await once(socket, 'data');
      socket.end('late');
      assert.match(await heard, /^HTTP\/1\.1 101 [^]*\r\n\r\nearly late$/);
      const [{ headers, head, ...rest } = assert.fail()] = handed;
      assert.deepEqual(rest, { to, idleMs: 1_000 });
      assert.equal(head, 'early ');
      assert.deepEqual([headers.authorization, headers['x-stream'], headers.upgrade], [undefined, 'v4', 'SPDY/3.1']);
    });
  }

  test('a page of another origin opens nothing, unless an API server passes its request on', async () => {
    const { world, handed } = await open();
    const start = ['GET /session/a?command=ls HTTP/1.1', 'Origin: https://evil.example'];
    assert.match(await ask(world.connect('secure'), start), /^HTTP\/1\.1 403 [^]*another origin/);
    assert.deepEqual(handed, []);
    assert.deepEqual(
      world.audited.map(({ outcome }) => outcome),
      [{ kind: 'answered', status: 403 }],
    );
    for (const more of [['Origin: https://node'], ['Origin: https://console.example', 'X-Forwarded-For: 10.0.0.1']]) {
      const socket = world.connect('secure');
      const heard = ask(socket, ['GET /session/a HTTP/1.1', ...more]);
      await once(socket, 'data');
      socket.end();
      assert.match(await heard, /^HTTP\/1\.1 101 /);
    }
  });

  test('the token among the protocols is for us alone', async () => {
    const tokens: (string | undefined)[] = [];
    const authenticate = async ({ bearer }: { readonly bearer?: string | undefined }): Promise<Caller> => {
      tokens.push(bearer);
      return { name: 'jane', groups: [] };
    };
    const { world, handed } = await open(handingOver, { authenticate });
    const socket = world.connect('secure');
    const protocols = 'v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.c2VjcmV0';
    const lines = ['GET /session/a HTTP/1.1', 'Host: node', 'Connection: Upgrade', 'Upgrade: websocket'];
    socket.write([...lines, `Sec-WebSocket-Protocol: ${protocols}`, '', ''].join('\r\n'));
    await once(socket, 'data');
    socket.destroy();
    assert.deepEqual(tokens, ['secret']);
    assert.equal(handed[0]?.headers['sec-websocket-protocol'], 'v5.channel.k8s.io');
  });

  test('to a streaming server in fact, over TLS, with what it says of the request', async (context) => {
    let asked = '';
    const runtime = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => {});
      socket.once('data', (chunk: Buffer) => {
        asked = chunk.toString();
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n');
        socket.pipe(socket);
      });
    });
    context.after(() => runtime.close());
    runtime.listen(0, '127.0.0.1');
    await once(runtime, 'listening');
    const { port } = runtime.address() as AddressInfo;
    const streaming = new URL(`http://127.0.0.1:${port}/exec/token`);
    const { world } = await open(async () => ({ kind: 'handOver', to: streaming, about: {} }), { handOver });
    const socket = world.connect('secure');
    const heard = ask(socket, ['POST /session/a?command=ls HTTP/1.1', 'Authorization: Bearer secret'], 'early ');
    await once(socket, 'data');
    socket.end('late');
    assert.match(await heard, /^HTTP\/1\.1 101 [^]*\r\n\r\nearly late$/);
    assert.match(asked, /^POST \/exec\/token HTTP\/1\.1\r\n/);
    assert.ok(!asked.includes('secret'));
  });

  test('the stop of the listener ends it', async () => {
    const { world } = await open();
    const socket = world.connect('secure');
    const heard = ask(socket, ['POST /session/a HTTP/1.1']);
    await once(socket, 'data');
    await world.close();
    assert.match(await heard, /101/);
    assert.equal(world.pipeline.underWay, 0);
  });

  test('a hand-over that throws leaves nothing open', async () => {
    const handOver: HandOverFunction = async () => {
      throw new Error('it broke');
    };
    const { world } = await open(handingOver, { handOver });
    assert.equal(await ask(world.connect('secure'), ['POST /session/a HTTP/1.1']), '');
    assert.deepEqual(world.log.messages('error'), ['Request failed']);
  });
});

describe('pages instead', () => {
  test('asked without an upgrade, the handler answers', async () => {
    const { world } = await open();
    const { status, body } = await world.ask('secure', '/session/a', { method: 'POST' });
    assert.deepEqual([status, body], [400, 'you must specify at least 1 of stdin, stdout, stderr\n']);
  });

  test('a page for who wanted an upgrade is a plain answer, and the connection ends', async () => {
    const { world } = await open(async () => text(404, 'pod does not exist\n'));
    const answer = await ask(world.connect('secure'), ['POST /session/a HTTP/1.1']);
    assert.match(answer, /^HTTP\/1\.1 404 Not Found\r\n[^]*Connection: close\r\n\r\npod does not exist\n$/i);
  });

  test('so are refusals', async () => {
    const { world } = await open(handingOver, { allow: () => false });
    assert.match(await ask(world.connect('secure'), ['POST /session/a HTTP/1.1']), /^HTTP\/1\.1 403 /);
    assert.match(await ask(world.connect('readOnly'), ['POST /nothing HTTP/1.1']), /^HTTP\/1\.1 404 /);
    assert.match(await ask(world.connect('readOnly'), ['PUT /session/a HTTP/1.1']), /^HTTP\/1\.1 405 /);
  });

  test('a handler that throws', async () => {
    const { world } = await open(async () => {
      throw new Error('secret');
    });
    assert.match(
      await ask(world.connect('secure'), ['POST /session/a HTTP/1.1']),
      /^HTTP\/1\.1 500 [^]*Internal Server Error\n$/,
    );
  });

  test('an upgrade that no route offers is ignored: page, stream and body as usual', async () => {
    const usual: Handler = async ({ wantsUpgrade, body }) => text(200, `${wantsUpgrade} ${body.toString()}`);
    const { world } = await open(usual, {}, { ...session, streams: 'no', bodyBytes: 100 });
    assert.match(await ask(world.connect('secure'), ['GET /session/a HTTP/1.1']), /\r\n\r\nfalse $/);
    assert.match(
      await ask(world.connect('readOnly'), ['POST /session/a HTTP/1.1', 'Content-Length: 4'], 'body'),
      /false body$/,
    );
    const slow = world.connect('readOnly');
    const answer = ask(slow, ['POST /session/a HTTP/1.1', 'Content-Length: 6'], 'bo');
    setImmediate(() => slow.write('dies and more'));
    assert.match(await answer, /false bodies$/);
    const large = ['POST /session/a HTTP/1.1', 'Content-Length: 101'];
    assert.match(await ask(world.connect('readOnly'), large, 'x'), /^HTTP\/1\.1 413 /);
    const chunked = ['POST /session/a HTTP/1.1', 'Transfer-Encoding: chunked'];
    assert.match(await ask(world.connect('readOnly'), chunked, '1\r\nx\r\n0\r\n\r\n'), /^HTTP\/1\.1 411 /);
  });

  test('a session whose request announces a body that does not come ends with its client', async () => {
    for (const listener of ['secure', 'readOnly'] as const) {
      const { world } = await open();
      for (const reset of [false, true]) {
        const socket = world.connect(listener);
        socket.on('error', () => {});
        const heard = ask(socket, ['POST /session/a HTTP/1.1', 'Content-Length: 100'], 'part').catch(() => '');
        await once(socket, 'data');
        if (reset && listener === 'readOnly') socket.resetAndDestroy();
        else socket.destroy();
        await heard;
        while (world.pipeline.underWay > 0) await new Promise(setImmediate);
      }
      assert.equal((await world.ask(listener, '/nothing')).status, 404);
    }
  });

  test('a stream for who wanted an upgrade notices when the client goes', async () => {
    let gone: () => void = () => {};
    const left = new Promise<void>((resolve) => (gone = resolve));
    const handler: Handler = async ({ signal }) => ({
      kind: 'stream',
      status: 200,
      contentType: 'text/plain',
      async send(sink) {
        signal.addEventListener('abort', gone);
        await sink.write('begun');
        await new Promise(() => {});
      },
    });
    const { world } = await open(handler, {}, { ...session, streams: 'response' });
    const socket = world.connect('secure');
    const heard = ask(socket, ['GET /session/a HTTP/1.1']);
    await once(socket, 'data');
    socket.destroy();
    await Promise.all([left, heard]);
  });

  test('behind a request that is not answered yet an upgrade ends the connection', async () => {
    const { world } = await open(() => new Promise(() => {}));
    const socket = world.connect('secure');
    socket.write('GET /session/a HTTP/1.1\r\nHost: node\r\n\r\n');
    assert.equal(await ask(socket, ['POST /session/b HTTP/1.1']), '');
    assert.equal((await world.ask('secure', '/nothing')).status, 404);
  });
});

describe('audit', () => {
  test('one line for each who runs something or tries to, with the first word of what', async () => {
    const authenticate = async ({ bearer }: { readonly bearer?: string | undefined }): Promise<Caller | undefined> =>
      bearer === undefined ? undefined : { name: bearer, groups: ['devs'] };
    const { world } = await open(handingOver, { authenticate, allow: ({ name }) => name === 'jane' });
    const query = 'command=mysql&command=-psecret&input=1';
    const socket = world.connect('secure');
    const heard = ask(socket, [`POST /session/a?${query} HTTP/1.1`, 'Authorization: Bearer jane']);
    await once(socket, 'data');
    socket.end();
    await heard;
    await world.ask('secure', `/session/a?${query}`, { headers: { authorization: 'Bearer joe' } });
    await world.ask('secure', '/session/a?cmd=rm%20-rf%20/', { method: 'POST' });
    await world.ask('secure', '/session/a?command=ls', { headers: { authorization: 'Bearer jane' } });
    await world.ask('secure', '/nothing', { headers: { authorization: 'Bearer jane' } });
    assert.deepEqual(
      world.audited.map(({ caller, address, method, path, command, outcome }) =>
        [caller?.name, address, method, path, command, JSON.stringify(outcome)].join(' '),
      ),
      [
        'jane 127.0.0.1 POST /session/a mysql {"kind":"handedOver"}',
        'joe 127.0.0.1 GET /session/a mysql {"kind":"answered","status":403}',
        ' 127.0.0.1 POST /session/a rm {"kind":"answered","status":401}',
        'jane 127.0.0.1 GET /session/a ls {"kind":"answered","status":400}',
      ],
    );
    assert.ok(!JSON.stringify(world.log.entries).includes('psecret'));
  });
});
