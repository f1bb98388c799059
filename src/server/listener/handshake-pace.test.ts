import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import { test } from 'node:test';
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

test('a few begin at once; each that ends, however it ends, lets the next begin, in order of arrival', () => {
  const { server, begun, connect } = setUp();
  const sockets = connect(20);
  assert.equal(begun.length, 8);
  server.emit('secureConnection');
  server.emit('tlsClientError');
  assert.equal(begun.length, 10);
  for (let end = 0; end < 20; end++) server.emit('secureConnection');
  assert.deepEqual(begun, sockets);
  connect(9);
  assert.equal(begun.length, 28, 'free places are never more than there are');
});

test('clients that say nothing keep others waiting for a moment only', async () => {
  const { clock, begun, connect } = setUp();
  connect(20);
  await clock.advance(20);
  assert.equal(begun.length, 16);
  await clock.advance(20);
  assert.equal(begun.length, 20);
  await clock.advance(60_000);
  connect(1);
  assert.equal(begun.length, 21);
  assert.equal(clock.pending(), 0);
});

test('who has gone meanwhile takes no place, and a server that is closed leaves no timer', () => {
  const { clock, server, begun, connect } = setUp();
  const sockets = connect(10);
  sockets[8]?.destroy();
  server.emit('secureConnection');
  assert.deepEqual([begun.length, begun.includes(sockets[8] as Socket)], [9, false]);
  connect(5);
  server.emit('close');
  assert.equal(clock.pending(), 0);
});
