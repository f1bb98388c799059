import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { raceAbort } from '../../base/abort.ts';
import type { Caller } from '../../model/caller.ts';
import { aRoute, askHttp2, hello, readAll, ServerWorld, type ServerWorldOptions } from '../../testing/server-world.ts';
import { text, type Handler, type RouteSpec } from '../route.ts';

const worlds: ServerWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

async function open(handler: Handler, spec: Partial<RouteSpec> = {}, options: Partial<ServerWorldOptions> = {}) {
  const world = await ServerWorld.open({ routes: [aRoute(handler, spec)], ...options });
  worlds.push(world);
  return world;
}

const jane: Caller = { name: 'jane', groups: ['devs'] };
const knows = (caller: Caller | undefined) => ({ authenticate: async () => caller });

describe('what a handler sees', () => {
  test('path, names, query, caller and headers without credentials', async () => {
    const seen: unknown[] = [];
    const handler: Handler = async ({ path, params, query, headers, method, caller, wantsUpgrade, body }) => {
      const names = Object.keys(headers).filter(
        (name) => name.includes('auth') || name.startsWith(':') || name === 'x-a',
      );
      seen.push({
        path,
        params,
        a: query.getAll('a'),
        names,
        method,
        caller: caller?.name,
        wantsUpgrade,
        size: body.length,
      });
      return text(200, '');
    };
    const world = await open(handler, { path: '/hello/{name}' }, knows(jane));
    const headers = { authorization: 'Bearer secret', 'x-a': '1' };
    await world.ask('secure', '/hello/a%20b/?a=1&a=%32', { headers });
    const session = world.http2();
    await askHttp2(session, '/hello/a%20b?a=1&a=2', headers);
    session.close();
    const wanted = { path: '/hello/a b', params: { name: 'a b' }, a: ['1', '2'], names: ['x-a'], method: 'GET' };
    const one = { ...wanted, caller: 'jane', wantsUpgrade: false, size: 0 };
    assert.deepEqual(seen, [one, one]);
  });

  test('a body up to its cap, with and without its length, on both versions', async () => {
    const handler: Handler = async ({ body }) => text(200, `${body.length}`);
    const world = await open(handler, { methods: ['POST'], bodyBytes: 1_000 });
    const post = { method: 'POST' };
    const chunked = { method: 'POST', headers: { 'transfer-encoding': 'chunked' } };
    const session = world.http2();
    const over2 = (body: string) => askHttp2(session, '/hello', { ':method': 'POST' }, body);
    for (const size of [0, 1, 1_000]) {
      const body = 'x'.repeat(size);
      assert.equal((await world.ask('secure', '/hello', { ...post, body })).body, String(size));
      assert.equal((await world.ask('readOnly', '/hello', { ...chunked, body })).body, String(size));
      assert.equal((await over2(body)).body, String(size));
    }
    for (const size of [1_001, 20_000]) {
      const body = 'x'.repeat(size);
      assert.equal((await world.ask('secure', '/hello', { ...post, body })).status, 413);
      assert.equal((await world.ask('readOnly', '/hello', { ...chunked, body })).status, 413);
      assert.equal((await over2(body)).status, 413);
    }
    assert.equal((await over2('x')).body, '1', 'and the connection goes on');
    session.close();
  });

  test('a page that reads no body takes none', async () => {
    const world = await open(hello);
    assert.equal(
      (await world.ask('readOnly', '/hello', { body: 'x', headers: { 'content-length': '1' } })).status,
      413,
    );
  });

  test('a client that expects 100-continue gets it only once its request is allowed', async () => {
    const world = await open(
      async ({ body }) => text(200, body.toString()),
      { methods: ['POST'], bodyBytes: 10 },
      {
        authenticate: async ({ bearer }) => (bearer === 'good' ? jane : undefined),
      },
    );
    const ask = (token: string): Promise<string> => {
      const socket = world.connect('secure');
      const head = `POST /hello HTTP/1.1\r\nHost: node\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n`;
      socket.write(`${head}Expect: 100-continue\r\nContent-Length: 3\r\n\r\n`);
      socket.once('data', (chunk: Buffer) => {
        if (chunk.toString().startsWith('HTTP/1.1 100')) socket.write('abc');
      });
      return readAll(socket);
    };
    assert.match(await ask('good'), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 [^]*abc$/);
    assert.match(await ask('bad'), /^HTTP\/1\.1 401 /);
  });
});

describe('answers', () => {
  test('no body and no length where there is none', async () => {
    const world = await open(async () => text(204, ''));
    const { status, headers } = await world.ask('readOnly', '/hello');
    assert.deepEqual([status, headers['content-length'], headers['transfer-encoding']], [204, undefined, undefined]);
  });

  test('headers that cannot be sent are a failure, not a crash', async () => {
    const world = await open(async () => ({ ...text(200, 'x'), headers: { 'x-bad': 'a\r\nb' } }));
    assert.equal((await world.ask('readOnly', '/hello')).status, 500);
    const session = world.http2();
    assert.equal((await askHttp2(session, '/hello')).status, 500);
    session.close();
  });

  test('a page whose maker ends, as it does with the agent, is no failure', async () => {
    const world = await open(async ({ signal }) => {
      await raceAbort(new Promise(() => {}), AbortSignal.any([signal, AbortSignal.abort()]));
      return text(200, 'never');
    });
    const { status, body } = await world.ask('readOnly', '/hello');
    assert.deepEqual([status, body], [503, 'Service Unavailable\n']);
    assert.deepEqual(world.log.messages('error'), []);
  });

  test('a handler that hands over what is no upgrade', async () => {
    const world = await open(async () => ({ kind: 'handOver', to: new URL('http://runtime/'), about: {} }));
    const { status, body } = await world.ask('readOnly', '/hello');
    assert.deepEqual([status, body], [400, 'Upgrade request required\n']);
  });
});

test('metrics', async () => {
  const world = await ServerWorld.open({ routes: [aRoute(hello, { path: '/pods' })] });
  worlds.push(world);
  await world.ask('readOnly', '/pods');
  await world.ask('secure', '/pods');
  await world.ask('secure', '/%zz', { method: 'PATCH' });
  await world.ask('healthz', '/pods');
  const lines = world.registry
    .render()
    .split('\n')
    .filter((line) => line.startsWith('kubelet_http_requests_total'));
  assert.deepEqual(lines.toSorted(), [
    'kubelet_http_requests_total{long_running="false",method="GET",path="pods",server_type="readonly"} 1',
    'kubelet_http_requests_total{long_running="false",method="GET",path="pods",server_type="readwrite"} 1',
    'kubelet_http_requests_total{long_running="false",method="other",path="other",server_type="readwrite"} 1',
  ]);
  assert.match(world.registry.render(), /kubelet_http_inflight_requests\{[^}]*readonly"\} 0/);
});
