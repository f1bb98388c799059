import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { anonymousCaller, type Caller } from '../../model/caller.ts';
import { aRoute, hello, readAll, ServerWorld, type ServerWorldOptions } from '../../testing/server-world.ts';
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

describe('who may', () => {
  test('unknown caller: 401, for pages and for paths that are none, and nothing else is asked', async () => {
    const world = await open(() => assert.fail(), {}, knows(undefined));
    for (const path of ['/hello', '/nothing', '/%zz', '/hello/../x', '/exec/a/b/c']) {
      const { status, body } = await world.ask('secure', path);
      assert.deepEqual([status, body], [401, 'Unauthorized'], path);
    }
    assert.deepEqual(world.asked, []);
  });

  test('who is asked fails or never answers: 401, and the log has why', async () => {
    const world = await open(
      hello,
      {},
      {
        authenticate: async () => {
          throw new Error('no route to the API server');
        },
      },
    );
    assert.equal((await world.ask('secure', '/hello')).status, 401);
    assert.deepEqual(world.log.messages('error'), ['Unable to authenticate the request due to an error']);

    const silent = await open(hello, {}, { authenticate: () => new Promise(() => {}), limits: { accessMs: 20 } });
    assert.equal((await silent.ask('secure', '/hello')).status, 401);
  });

  test('a token that cannot be read is refused, not anonymous', async () => {
    const world = await open(hello, { streams: 'upgrade' }, knows(anonymousCaller));
    const socket = world.connect('secure');
    socket.write(
      'GET /hello HTTP/1.1\r\nHost: node\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
        'Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.eA\r\n\r\n',
    );
    assert.match(await readAll(socket), /^HTTP\/1\.1 401 [^]*\r\n\r\nUnauthorized$/);
  });

  test('refused: which right was missing, of those that would do', async () => {
    const fine = { right: { subresource: 'pods', fine: true } } as const;
    const world = await open(() => assert.fail(), fine, { ...knows(jane), allow: () => false });
    const { status, body, headers } = await world.ask('secure', '/hello');
    assert.equal(status, 403);
    assert.equal(body, 'Forbidden (user=jane, verb=get, resource=nodes, subresource(s)=[pods proxy])');
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8');
    assert.deepEqual(world.asked, [
      { user: 'jane', verb: 'get', subresource: 'pods' },
      { user: 'jane', verb: 'get', subresource: 'proxy' },
    ]);

    const coarse = await open(hello, fine, { ...knows(jane), allow: () => false, fineGrained: false });
    assert.match((await coarse.ask('secure', '/hello')).body, /subresource\(s\)=\[proxy\]/);
  });

  test('a path without a page needs the right to everything', async () => {
    const world = await open(hello, {}, { ...knows(jane), allow: () => false });
    for (const path of ['/nothing', '/metrics', '/%zz']) {
      const { status, body } = await world.ask('secure', path, { method: 'DELETE' });
      assert.equal(status, 403);
      assert.equal(body, 'Forbidden (user=jane, verb=delete, resource=nodes, subresource(s)=[proxy])');
    }
  });

  test('allowed by one is enough; only then come 404, 405 and 400', async () => {
    const fine = { right: { subresource: 'pods', fine: true } } as const;
    const world = await open(hello, fine, {
      ...knows(jane),
      allow: (_caller, { subresource }) => subresource === 'proxy',
    });
    assert.equal((await world.ask('secure', '/hello')).status, 200);
    assert.equal((await world.ask('secure', '/nothing')).status, 404);
    assert.equal((await world.ask('secure', '/%zz')).status, 400);
    assert.equal((await world.ask('secure', '/hello', { method: 'PUT' })).status, 405);
  });

  test('it cannot be found out: 500 in the words of upstream, and the log has why', async () => {
    const allow = async (): Promise<boolean> => {
      throw new Error('webhook down at 10.0.0.1');
    };
    const world = await open(() => assert.fail(), {}, { ...knows(jane), allow });
    const { status, body } = await world.ask('secure', '/hello');
    assert.equal(status, 500);
    assert.equal(body, 'Authorization error (user=jane, verb=get, resource=nodes, subresource(s)=[proxy])');
    assert.deepEqual(world.log.messages('error'), ['Authorization error']);

    const silent = await open(
      hello,
      {},
      { ...knows(jane), allow: () => new Promise(() => {}), limits: { accessMs: 20 } },
    );
    assert.equal((await silent.ask('secure', '/hello')).status, 500);
  });

  test('to run something takes `create`, whatever the method, but for who wants it as upstream', async () => {
    const running = { right: { subresource: 'proxy', alsoVerb: 'create' }, methods: ['GET', 'POST'] } as const;
    const allow = (_caller: Caller, { verb }: { readonly verb: string }): boolean => verb === 'get';
    const world = await open(hello, running, { ...knows(jane), allow });
    assert.deepEqual(
      [(await world.ask('secure', '/hello')).body, (await world.ask('secure', '/hello', { method: 'POST' })).body],
      Array.from({ length: 2 }, () => 'Forbidden (user=jane, verb=create, resource=nodes, subresource(s)=[proxy])'),
    );
    assert.deepEqual(
      world.asked.map(({ verb }) => verb),
      ['get', 'create', 'create'],
    );

    const lenient = await open(hello, running, { ...knows(jane), allow, upstreamVerbs: true });
    assert.equal((await lenient.ask('secure', '/hello')).status, 200);
  });

  test('the open ports authenticate no request, and there is no caller', async () => {
    const world = await open(
      async ({ caller, listener }) => text(200, `${listener} ${caller?.name}`),
      {},
      knows(undefined),
    );
    assert.equal((await world.ask('readOnly', '/hello')).body, 'readOnly undefined');
    assert.equal((await world.ask('healthz', '/hello')).body, 'healthz undefined');
  });
});
