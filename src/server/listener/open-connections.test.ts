import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { defaultLimits, type ServerLimits } from './limits.ts';
import { OpenConnections } from './open-connections.ts';
import type { TrackedConnection } from './tracked-connection.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function setUp(limits: Partial<ServerLimits>) {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const connections = new OpenConnections({ listener: 'l', clock, log, limits: { ...defaultLimits, ...limits } });
  const server: Server = createServer({ pauseOnConnect: false });
  const accepted: TrackedConnection[] = [];
  connections.follow(server);
  server.on('connection', (socket: Socket) => {
    socket.resume();
    const connection = connections.of(socket);
    if (connection !== undefined) accepted.push(connection);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const clients: Socket[] = [];
  ends.push(() => {
    for (const client of clients) client.destroy();
    void connections.close(server);
  });
  const open = async (from = '127.0.0.1'): Promise<Socket> => {
    const wanted = accepted.length + 1;
    const client = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, localAddress: from });
    client.on('error', () => {});
    clients.push(client);
    await once(client, 'connect');
    while (accepted.length < wanted) await nextTurn();
    return client;
  };
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn++) await nextTurn();
  };
  const alive = (): readonly boolean[] => accepted.map(({ isOpen }) => isOpen);
  return { clock, log, connections, server, accepted, open, settle, alive };
}

const small = { unauthenticatedConnections: { inAll: 3, each: 2 } };

test('the oldest of an address gives way, others and those that are known do not', async () => {
  const { accepted, open, settle, alive, connections } = await setUp(small);
  await open();
  await open('127.0.0.2');
  accepted[0]?.authenticated('ann');
  for (let n = 0; n < 3; n++) await open();
  await settle();
  assert.deepEqual(alive(), [true, true, false, true, true]);
  for (let n = 0; n < 3; n++) await open('127.0.0.3');
  await settle();
  assert.equal(alive()[0], true, 'the one that is known');
  assert.equal(alive().filter(Boolean).length, 4);
  assert.equal(connections.count, 4);
});

test('one that comes has a turn to say something before it may have to go', async () => {
  const { accepted, open, settle, alive } = await setUp({ unauthenticatedConnections: { inAll: 9, each: 1 } });
  await open();
  await settle();
  const opening = open();
  await opening;
  const finish = accepted[1]?.begin();
  await settle();
  assert.deepEqual(alive(), [false, true]);
  finish?.();
});

test('so many known connections, in all and of one caller; the others stay what they were', async () => {
  const { accepted, open, settle, alive } = await setUp({
    ...small,
    authenticatedConnections: { inAll: 2, each: 1 },
  });
  const first = await open();
  for (let n = 0; n < 2; n++) await open();
  for (const connection of accepted) connection.authenticated('ann');
  assert.deepEqual(
    accepted.map(({ isAuthenticated }) => isAuthenticated),
    [true, false, false],
  );
  await settle();
  assert.deepEqual(alive(), [true, true, true]);
  first.destroy();
  while (accepted[0]?.isOpen === true) await nextTurn();
  await settle();
  accepted[1]?.authenticated('ann');
  assert.equal(accepted[1]?.isAuthenticated, true, 'there is room again');
});

test('bytes without a request end a connection; those of requests do not', async () => {
  const unfinished = { inAll: 1_000, perAddress: 1_000, perConnection: 100 };
  const { clock, log, accepted, open, settle, alive } = await setUp({ unfinished });
  const clients = [await open(), await open(), await open()];
  for (const client of clients) client.write(Buffer.alloc(150));
  while (accepted.some(({ unfinishedBytes }) => unfinishedBytes < 150)) await nextTurn();
  accepted[1]?.begin()();
  accepted[2]?.authenticated('ann');
  await settle();
  await clock.advance(defaultLimits.sweepMs);
  assert.deepEqual(alive(), [false, true, true]);
  assert.deepEqual(log.entries.at(-1)?.fields['reason'], '150 bytes without a request');
});

test('no request in time: ended; one that asked once may rest', async () => {
  const { clock, accepted, open, settle, alive } = await setUp({});
  for (let n = 0; n < 3; n++) await open();
  accepted[1]?.spoke();
  accepted[2]?.begin()();
  await settle();
  await clock.advance(25_000);
  assert.deepEqual(alive(), [true, true, true]);
  await clock.advance(1_000);
  assert.deepEqual(alive(), [false, false, true]);
});

test('no timer is left without connections, or when all are authenticated', async () => {
  const { clock, accepted, open, settle } = await setUp({});
  assert.equal(clock.pending(), 0);
  await open();
  accepted[0]?.authenticated('ann');
  await settle();
  await clock.advance(1_000);
  assert.equal(clock.pending(), 0);
});
