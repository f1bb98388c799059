import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import { socketFiles } from '../../host/index.ts';
import { askHttp } from '../../testing/http-ask.ts';
import { systemClock } from '../../base/system-clock.ts';
import { aRoute, ServerWorld } from '../../testing/server-world.ts';
import { text, type ListenerName } from '../route.ts';
import type { BoundRoute } from './match-route.ts';
import { PlainListener } from './plain-listener.ts';

const running: ServerWorld[] = [];
afterEach(async () => {
  for (const world of running.splice(0)) await world.close();
});

const hello = aRoute(async ({ query }) => text(200, `grüß ${query.get('name') ?? 'dich'}`), {
  listeners: ['readOnly'],
});
const helloThat = (handler: BoundRoute['handler']): BoundRoute => ({ ...hello, handler });

async function listen(routes: readonly BoundRoute[] = [hello], listener: ListenerName = 'readOnly', port = 0) {
  const world = await ServerWorld.open({ routes, listeners: [listener], port });
  running.push(world);
  return { server: world.listeners.get(listener)!, log: world.log, port: world.port(listener), world };
}

describe('answers', () => {
  test('a body with its length in bytes, and a type that browsers must not guess', async () => {
    const { port } = await listen();
    const { status, headers, body } = await askHttp(port, '/hello');
    assert.equal(status, 200);
    assert.equal(body, 'grüß dich');
    assert.equal(headers['content-length'], '11');
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8');
    assert.equal(headers['x-content-type-options'], 'nosniff');
  });

  test('HEAD is GET without the body', async () => {
    const { port } = await listen();
    const { status, headers, body } = await askHttp(port, '/hello', 'HEAD');
    assert.deepEqual([status, body, headers['content-length']], [200, '', '11']);
  });

  test('the query reaches the route', async () => {
    const { port } = await listen();
    assert.equal((await askHttp(port, '/hello?name=a%20b')).body, 'grüß a b');
  });

  test('a slash at the end is the same page', async () => {
    const { port } = await listen();
    assert.equal((await askHttp(port, '/hello/')).status, 200);
    assert.equal((await askHttp(port, '/hello///')).status, 200);
  });

  test('no such page', async () => {
    const { port } = await listen();
    for (const path of ['/', '/hell', '/hello/x', '/Hello', '//hello', '//elsewhere/hello', '/x//hello']) {
      const { status, body } = await askHttp(port, path);
      assert.deepEqual([status, body], [404, '404 page not found\n'], path);
    }
  });

  test('another method', async () => {
    const { port } = await listen();
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
      const { status, body, headers } = await askHttp(port, '/hello', method);
      assert.deepEqual([status, body, headers.allow], [405, 'Method Not Allowed\n', 'GET, HEAD'], method);
    }
  });

  test('a route that is not for this listener is not there', async () => {
    const { port } = await listen([hello], 'healthz');
    assert.equal((await askHttp(port, '/hello')).status, 404);
  });

  test('a target that is no address', async () => {
    const { port } = await listen();
    const { status, body } = await askHttp(port, 'http://[/hello');
    assert.deepEqual([status, body], [400, '400 Bad Request\n']);
    assert.equal((await askHttp(port, 'http://elsewhere/hello')).status, 200, 'a proxy writes it in full');
  });
});

describe('trouble', () => {
  test('a route that throws: the client learns nothing, the log everything', async () => {
    const broken = helloThat(async () => {
      throw new Error('the secret is 42');
    });
    const { log, port } = await listen([broken]);
    const { status, body } = await askHttp(port, '/hello');
    assert.deepEqual([status, body], [500, 'Internal Server Error\n']);
    const [entry] = log.entries.filter(({ severity }) => severity === 'error');
    assert.equal(entry?.message, 'Request failed');
    assert.match(String(entry?.error), /42/);
    assert.equal((await askHttp(port, '/hello')).status, 500, 'and it goes on');
  });

  test('the reason behind an answer goes to the log', async () => {
    const ill = helloThat(async () => ({ ...text(500, 'ill'), problem: 'the loop is stuck' }));
    const { log, port } = await listen([ill]);
    assert.equal((await askHttp(port, '/hello')).body, 'ill');
    const entry = log.entries.find(({ severity }) => severity === 'debug');
    assert.deepEqual(entry?.fields, { path: '/hello', err: 'the loop is stuck' });
  });

  test('what is not HTTP is turned away, and others are served', async () => {
    const { port } = await listen();
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write('\u0000\u0001 nonsense\r\n\r\n'));
      let received = '';
      socket.on('data', (chunk) => (received += chunk.toString()));
      socket.on('close', () => resolve(received));
      socket.on('error', reject);
    });
    assert.match(answer, /^HTTP\/1\.1 400 /);
    assert.equal((await askHttp(port, '/hello')).status, 200);
  });

  test('a port that is taken: the error says which, and what to do', async () => {
    const { port } = await listen();
    await assert.rejects(listen([hello], 'healthz', port), (error: unknown) => {
      assert.ok(error instanceof TubeletError);
      assert.equal(error.kind, 'conflict');
      assert.equal(
        error.message,
        `cannot listen for healthz on 127.0.0.1:${port}: another program listens there; stop it or choose another port`,
      );
      assert.equal((error.cause as NodeJS.ErrnoException).code, 'EADDRINUSE');
      return true;
    });
  });
});

describe('life', () => {
  test('says where it listens, and by which name it goes', async () => {
    const { server, log, port } = await listen();
    assert.equal(server.name, 'http-readOnly');
    assert.deepEqual(log.entries, [
      { severity: 'info', message: 'Listening', fields: { listener: 'readOnly', address: '127.0.0.1', port } },
    ]);
  });

  test('before its start the port is the one that was asked for, and stop is fine', async () => {
    const { world } = await listen();
    const { pipeline, log } = world;
    const server = new PlainListener({
      listener: 'healthz',
      at: { address: '127.0.0.1', port: 10248 },
      pipeline,
      clock: systemClock(),
      log,
    });
    assert.equal(server.port, 10248);
    await server.stop();
  });

  test('a socket is for this user alone, and one that was left is replaced', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tubelet-socket-'));
    const { world } = await listen();
    const { pipeline, log } = world;
    const at = (name: string) => ({ path: join(folder, name), sockets: socketFiles });
    const answer = (path: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        get({ socketPath: path, path: '/healthz', agent: false }, ({ statusCode }) => resolve(statusCode)).on(
          'error',
          reject,
        );
      });
    try {
      // As an agent that was killed leaves it: Node itself removes the file of a server that is closed.
      const left = createServer().listen(at('a.sock').path);
      await once(left, 'listening');
      renameSync(at('a.sock').path, at('b.sock').path);
      left.close();
      const server = new PlainListener({ listener: 'socket', at: at('b.sock'), pipeline, clock: systemClock(), log });
      await server.start();
      assert.equal(statSync(at('b.sock').path).mode & 0o7777, 0o600);
      assert.equal(await answer(at('b.sock').path), 404);
      await server.stop();
      writeFileSync(at('file').path, 'precious');
      const other = new PlainListener({ listener: 'socket', at: at('file'), pipeline, clock: systemClock(), log });
      await assert.rejects(other.start(), /what is there is no socket/);
      assert.equal(readFileSync(at('file').path, 'utf8'), 'precious');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('stop frees the port', async () => {
    const { server, port } = await listen();
    await server.stop();
    await assert.rejects(askHttp(port, '/hello'), /ECONNREFUSED/);
    await listen([hello], 'readOnly', port);
  });

  test('stop waits neither for idle connections nor for requests that never end', async () => {
    let begun: () => void = () => {};
    const underWay = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const endless = aRoute(
      () => {
        begun();
        return new Promise(() => {});
      },
      { path: '/endless' },
    );
    const { server, port } = await listen([hello, endless]);
    const agent = new Agent({ keepAlive: true });
    await new Promise<void>((resolve, reject) => {
      get({ host: '127.0.0.1', port, path: '/hello', agent }, (response) => {
        response.resume();
        response.on('end', resolve);
      }).on('error', reject);
    });
    const hanging = assert.rejects(askHttp(port, '/endless'), /socket hang up|ECONNRESET/);
    await underWay;
    await server.stop();
    await hanging;
    agent.destroy();
  });
});
