import assert from 'node:assert/strict';
import { once } from 'node:events';
import { afterEach, describe, test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import {
  aRoute,
  askHttp2,
  gate,
  hello,
  ServerWorld,
  streamOf,
  type ServerWorldOptions,
} from '../../testing/server-world.ts';
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

describe('time', () => {
  test('an answer that takes too long: 504, and the handler learns of it', async () => {
    const clock = new FakeClock();
    const begun = gate();
    let reason: unknown;
    const handler: Handler = ({ signal }) => {
      signal.addEventListener('abort', () => (reason = signal.reason));
      begun.open();
      return new Promise(() => {});
    };
    const world = await open(handler, { limitMs: 60_000 }, { clock, listeners: ['readOnly'] });
    const answer = world.ask('readOnly', '/hello');
    await begun.opened;
    await clock.advance(60_000);
    assert.equal((await answer).status, 504);
    assert.ok(reason instanceof TubeletError && reason.kind === 'timeout');
    assert.equal(world.pipeline.underWay, 0);
    assert.deepEqual(world.log.messages('error'), []);
  });

  test('a time that ran out inside the handler is a failure like others', async () => {
    const world = await open(async () => {
      throw new TubeletError('timeout', 'the runtime did not answer');
    });
    assert.equal((await world.ask('readOnly', '/hello')).status, 500);
    assert.deepEqual(world.log.messages('error'), ['Request failed']);
  });

  test('a stream that takes too long is broken off', async () => {
    const clock = new FakeClock();
    const begun = gate();
    const handler: Handler = async () =>
      streamOf(async (sink) => {
        await sink.write('begun');
        begun.open();
        await new Promise(() => {});
      });
    const world = await open(handler, { limitMs: 60_000, streams: 'response' }, { clock, listeners: ['readOnly'] });
    const answer = assert.rejects(world.ask('readOnly', '/hello'), /aborted|hang up|ECONNRESET/);
    await begun.opened;
    await clock.advance(60_000);
    await answer;
  });

  test('a client that goes away takes its request with it', async () => {
    const begun = gate();
    const ended = gate();
    const handler: Handler = ({ signal }) => {
      signal.addEventListener('abort', () => ended.open());
      begun.open();
      return new Promise(() => {});
    };
    const world = await open(handler, { limitMs: undefined });
    const socket = world.connect('readOnly');
    socket.write('GET /hello HTTP/1.1\r\nHost: node\r\n\r\n');
    await begun.opened;
    socket.destroy();
    await ended.opened;
  });

  test('the same over HTTP/2, where the connection stays', async () => {
    const begun = gate();
    const ended = gate();
    const handler: Handler = ({ signal, query }) => {
      if (query.has('now')) return Promise.resolve(text(200, 'now'));
      signal.addEventListener('abort', () => ended.open());
      begun.open();
      return new Promise(() => {});
    };
    const world = await open(handler, { limitMs: undefined });
    const session = world.http2();
    const stream = session.request({ ':path': '/hello' });
    stream.on('error', () => {});
    await begun.opened;
    stream.close(8);
    await ended.opened;
    assert.equal((await askHttp2(session, '/hello?now')).body, 'now');
    session.close();
  });
});

describe('how many', () => {
  test('per caller and in all; the others get 429 with retry-after', async () => {
    const opened = gate();
    const counts = { short: { inAll: 3, each: 2 } };
    const world = await open(
      async ({ caller }) => {
        await opened.opened;
        return text(200, caller?.name ?? '');
      },
      {},
      { limits: counts, authenticate: async ({ bearer = '' }) => ({ name: bearer, groups: [] }) },
    );
    const ask = (name: string) => world.ask('secure', '/hello', { headers: { authorization: `Bearer ${name}` } });
    const refused = async (name: string): Promise<void> => {
      const { status, headers } = await ask(name);
      assert.deepEqual([status, headers['retry-after']], [429, '1']);
    };
    const until = async (count: number): Promise<void> => {
      while (world.pipeline.underWay < count) await new Promise((resolve) => void setImmediate(resolve));
    };
    const answers = [ask('a'), ask('a')];
    await until(2);
    await refused('a');
    answers.push(ask('b'));
    await until(3);
    await refused('c');
    opened.open();
    assert.deepEqual(
      (await Promise.all(answers)).map(({ body }) => body),
      ['a', 'a', 'b'],
    );
    assert.equal((await ask('c')).status, 200);
    assert.equal(world.pipeline.underWay, 0);
  });

  test('those that go on are counted apart', async () => {
    const handler: Handler = async () => streamOf(() => new Promise(() => {}));
    const long = aRoute(handler, { path: '/long', limitMs: undefined, streams: 'response' });
    const limits = { short: { inAll: 1, each: 1 }, long: { inAll: 2, each: 2 } };
    const world = await ServerWorld.open({ routes: [long, aRoute(hello)], limits });
    worlds.push(world);
    const session = world.http2();
    for (const _ of [1, 2]) await once(session.request({ ':path': '/long' }), 'response');
    assert.equal((await askHttp2(session, '/long')).status, 429);
    assert.equal((await askHttp2(session, '/hello')).status, 200);
    session.destroy();
  });

  test('those that are not authenticated yet', async () => {
    const limits = { arriving: { inAll: 9, each: 1 } };
    const begun = gate();
    const authenticate = (): Promise<undefined> => {
      begun.open();
      return new Promise(() => {});
    };
    const world = await open(hello, {}, { limits, authenticate });
    const socket = world.connect('secure');
    socket.write('GET /hello HTTP/1.1\r\nHost: node\r\n\r\n');
    await begun.opened;
    assert.equal((await world.ask('secure', '/hello')).status, 429);
    socket.destroy();
  });
});
