import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { FakeClock } from '../../testing/fake-clock.ts';
import { paceHandshakes } from './handshake-pace.ts';

function setUp() {
  const clock = new FakeClock();
  const server = new EventEmitter();
  const begun: Socket[] = [];
  server.on('connection', (socket: Socket) => void begun.push(socket));
  paceHandshakes(server, clock);
  const connect = (count: number): readonly Socket[] =>
    Array.from({ length: count }, () => {
      const socket = new Socket();
      server.emit('connection', socket);
      return socket;
    });
  return { clock, server, begun, connect };
}

/** As many turns of the event loop as it takes. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn();
}

test('a few begin at once; each that ends, however it ends, lets the next begin, in order of arrival', async () => {
  const { server, begun, connect } = setUp();
  const sockets = connect(20);
  await turns(5);
  assert.equal(begun.length, 8);
  server.emit('secureConnection');
  server.emit('tlsClientError');
  await turns(1);
  assert.equal(begun.length, 10);
  for (let end = 0; end < 20; end++) {
    server.emit('secureConnection');
    await turns(1);
  }
  assert.deepEqual(begun, sockets);
  connect(9);
  await turns(5);
  assert.equal(begun.length, 28, 'free places are never more than there are');
});

test('fewer still begin in one turn, also when many end or all places are free', async () => {
  const { clock, server, begun, connect } = setUp();
  connect(40);
  assert.equal(begun.length, 3);
  await turns(1);
  assert.equal(begun.length, 6);
  await turns(1);
  assert.equal(begun.length, 8);
  for (let end = 0; end < 8; end++) server.emit('secureConnection');
  const before = begun.length;
  await turns(1);
  assert.ok(begun.length - before <= 3, `${begun.length - before} at once`);
  await turns(3);
  assert.equal(begun.length, 16);
  const turn = nextTurn();
  void clock.advance(20);
  await turn;
  assert.deepEqual(
    begun.slice(22).map(() => 'begun'),
    [],
  );
});

test('clients that say nothing keep others waiting for a moment only', async () => {
  const { clock, begun, connect } = setUp();
  connect(20);
  await turns(5);
  await clock.advance(20);
  await turns(5);
  assert.equal(begun.length, 16);
  await clock.advance(20);
  await turns(5);
  assert.equal(begun.length, 20);
  await clock.advance(60_000);
  connect(1);
  assert.equal(begun.length, 21);
  assert.equal(clock.pending(), 0);
});

test('who has gone meanwhile takes no place, and a server that is closed leaves no timer', async () => {
  const { clock, server, begun, connect } = setUp();
  const sockets = connect(10);
  await turns(5);
  sockets[8]?.destroy();
  server.emit('secureConnection');
  await turns(1);
  assert.deepEqual([begun.length, begun.includes(sockets[8] as Socket)], [9, false]);
  connect(5);
  server.emit('close');
  assert.equal(clock.pending(), 0);
});
