import assert from 'node:assert/strict';
import { once } from 'node:events';
import { afterEach, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { raceAbort } from '../../base/abort.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { aRoute, askHttp2, hello, readAll, ServerWorld, type ServerWorldOptions } from '../../testing/server-world.ts';
import { text } from '../route.ts';

let world: ServerWorld;
let clock: FakeClock;
afterEach(async () => {
  assert.deepEqual(world.log.messages('error'), []);
  await world.close();
  while (world.pipeline.underWay > 0) await nextTurn();
});

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

async function pass(ms: number): Promise<void> {
  await clock.advance(ms);
  await nextTurn();
}

async function open(...routes: ServerWorldOptions['routes']): Promise<void> {
  clock = new FakeClock();
  world = await ServerWorld.open({ routes, clock, listeners: ['secure'] });
}

test('a stream without a handler does not keep a connection that is broken', async () => {
  await open(aRoute(hello));
  const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  const settings = Buffer.from('000000040000000000', 'hex');
  // CONNECT a:1, and one that expects something strange: the HTTP/2 library answers both by itself.
  for (const block of ['0207434f4e4e4543540103613a31', '82870406 2f68656c6c6f 0006657870656374 0178']) {
    const payload = Buffer.from(block.replaceAll(' ', ''), 'hex');
    const headers = Buffer.concat([Buffer.from([0, 0, payload.length, 1, 5, 0, 0, 0, 1]), payload]);
    // Behind it headers that cannot be unpacked: nothing is sent on this connection any more.
    const nonsense = Buffer.from('000004010500000003ffffffff', 'hex');
    const socket = world.connect('secure', { ALPNProtocols: ['h2'] }) as TLSSocket;
    await once(socket, 'secureConnect');
    const heard = readAll(socket);
    socket.write(Buffer.concat([preface, settings, headers, nonsense]));
    await once(socket, 'data');
    await clock.settle();
    await clock.advance(90_000);
    await heard;
  }
});

test('a client that takes nothing of its answer is let go with its connection', async () => {
  await open(aRoute(async () => text(200, 'x'.repeat(64 << 20))));
  // Both ends are of this process.
  const ends = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
  const before = ends();
  const socket = world.connect('secure', { ALPNProtocols: ['h2'] }) as TLSSocket;
  await once(socket, 'secureConnect');
  // Settings and a window with room for all of it, then GET /hello.
  const hello =
    '505249202a20485454502f322e300d0a0d0a534d0d0a0d0a0000060400000000000004 7fffffff 0000040800000000007ff00000';
  const get = '00000d010500000001 82 87 04 06 2f68656c6c6f 01 01 6e';
  socket.write(Buffer.from(`${hello}${get}`.replaceAll(' ', ''), 'hex'));
  socket.pause();
  while (world.pipeline.underWay === 0) await nextTurn();
  // The request is given up, and then the connection: only the end of the client is left.
  while (world.pipeline.underWay > 0) await pass(60_000);
  while (ends() > before + 1) await pass(90_000);
  socket.destroy();
});

test('an idle connection ends, one with a request does not', async () => {
  await open(
    aRoute(hello),
    aRoute(() => new Promise(() => {}), { path: '/never', limitMs: undefined }),
  );
  const busy = world.http2();
  busy.on('error', () => {});
  const idle = world.http2();
  await askHttp2(busy, '/hello');
  await askHttp2(idle, '/hello');
  const waiting = busy.request({ ':path': '/never' });
  waiting.on('error', () => {});
  while (world.pipeline.underWay === 0) await nextTurn();
  const closed = once(idle, 'close');
  // A client that is about to send a request learns that it was not received.
  const goaway = once(idle, 'goaway');
  for (let asked = 0; asked < 3; asked++) {
    const pinged = once(busy, 'ping');
    await clock.advance(30_000);
    await pinged;
    // Its answer is on the way; nothing comes before it on this connection.
    assert.equal((await askHttp2(busy, '/hello')).status, 200);
  }
  assert.deepEqual((await goaway).slice(0, 1), [0]);
  await closed;
  assert.equal(busy.closed, false);
  busy.destroy();
  await once(busy, 'close');
});

test('a client with a request that does not say it is there is let go', async () => {
  let ended = false;
  await open(aRoute(({ signal }) => raceAbort(new Promise(() => {}), signal), { limitMs: undefined }));
  const socket = world.connect('secure', { ALPNProtocols: ['h2'] }) as TLSSocket;
  await once(socket, 'secureConnect');
  const heard = readAll(socket).then(() => (ended = true));
  socket.write(
    Buffer.from(
      '505249202a20485454502f322e300d0a0d0a534d0d0a0d0a000000040000000000' +
        '00000d01050000000182870406 2f68656c6c6f 01016e'.replaceAll(' ', ''),
      'hex',
    ),
  );
  while (world.pipeline.underWay === 0) await nextTurn();
  await clock.advance(59_000);
  assert.equal(ended, false);
  await clock.advance(1_000);
  await heard;
});
