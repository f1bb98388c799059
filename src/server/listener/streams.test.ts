import assert from 'node:assert/strict';
import { once } from 'node:events';
import { afterEach, describe, test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { aRoute, askHttp2, gate, ServerWorld, streamOf, type ServerWorldOptions } from '../../testing/server-world.ts';
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

describe('streams', () => {
  test('each write goes out at once; headers before the first; HEAD does not begin', async () => {
    const first = gate();
    const second = gate();
    let sends = 0;
    const handler: Handler = async () =>
      streamOf(async (sink) => {
        sends++;
        await first.opened;
        await sink.write('one ');
        await second.opened;
        await sink.write(Buffer.from('two'));
      });
    const world = await open(handler, { limitMs: undefined, streams: 'response' });
    const head = await world.ask('readOnly', '/hello', { method: 'HEAD' });
    assert.deepEqual([head.status, head.headers['x-of'], sends], [200, 'stream', 0]);
    const session = world.http2();
    const stream = session.request({ ':path': '/hello' });
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
    assert.deepEqual([headers[':status'], headers['x-content-type-options']], [200, 'nosniff']);
    first.open();
    assert.equal(String((await once(stream, 'data'))[0]), 'one ');
    second.open();
    assert.equal(String((await once(stream, 'data'))[0]), 'two');
    session.close();
    const plain = await world.ask('readOnly', '/hello');
    assert.deepEqual([plain.body, plain.headers['transfer-encoding']], ['one two', 'chunked']);
  });

  test('one that fails is broken off, so that no client takes it for whole; the log has why', async () => {
    const handler: Handler = async () =>
      streamOf(async (sink) => {
        await sink.write('half');
        throw new Error('the file is gone');
      });
    const world = await open(handler, { streams: 'response' });
    await assert.rejects(world.ask('readOnly', '/hello'), /aborted|hang up|ECONNRESET/);
    const session = world.http2();
    await assert.rejects(askHttp2(session, '/hello'), /INTERNAL_ERROR/);
    session.close();
    assert.deepEqual(world.log.messages('error'), ['Request failed', 'Request failed']);
  });

  for (const listener of ['readOnly', 'secure'] as const) {
    test(`a client that does not read holds the writer back and is given up (${listener})`, async () => {
      const ended = gate();
      let sent = 0;
      let failure: unknown;
      const handler: Handler = async () =>
        streamOf(async (sink) => {
          try {
            for (;;) {
              await sink.write(Buffer.alloc(256 * 1024));
              sent++;
            }
          } catch (error) {
            failure = error;
            ended.open();
            throw error;
          }
        });
      const spec = { limitMs: undefined, streams: 'response' } as const;
      const world = await open(handler, spec, { limits: { stallMs: 300 } });
      const socket = world.connect(listener);
      socket.write('GET /hello HTTP/1.1\r\nHost: node\r\n\r\n');
      await ended.opened;
      assert.ok(failure instanceof TubeletError && failure.kind === 'timeout');
      assert.ok(sent < 200, `${sent}`);
      socket.on('error', () => {});
      socket.destroy();
      assert.deepEqual(world.log.messages('error'), []);
    });
  }

  test('the same over HTTP/2, for one stream of many', async () => {
    const handler: Handler = async ({ query }) => {
      if (query.has('now')) return text(200, 'now');
      return streamOf(async (sink) => {
        for (;;) await sink.write(Buffer.alloc(64 * 1024));
      });
    };
    const spec = { limitMs: undefined, streams: 'response' } as const;
    const world = await open(handler, spec, { limits: { stallMs: 300 } });
    const session = world.http2();
    const stream = session.request({ ':path': '/hello' });
    await assert.rejects(once(stream, 'end'), /INTERNAL_ERROR/);
    assert.equal((await askHttp2(session, '/hello?now')).body, 'now');
    session.close();
  });

  test('a large page to a client that does not read ends too', async () => {
    const clock = new FakeClock();
    const world = await open(
      async () => ({ ...text(200, ''), body: Buffer.alloc(64 << 20) }),
      {},
      {
        clock,
        listeners: ['readOnly'],
      },
    );
    const socket = world.connect('readOnly');
    socket.write('GET /hello HTTP/1.1\r\nHost: node\r\n\r\n');
    await once(socket, 'readable');
    assert.equal(world.pipeline.underWay, 1);
    const closed = once(socket, 'close');
    await clock.advance(60_000);
    assert.equal(world.pipeline.underWay, 0);
    socket.on('error', () => {});
    socket.destroy();
    await closed;
  });
});
