import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { paceHandshakes } from './handshake-pace.ts';

/** A record of a handshake with one byte. */
const hello = Buffer.from('160301000101', 'hex');

function setUp() {
  const server = new EventEmitter();
  const begun: Socket[] = [];
  const heard: Socket[] = [];
  server.on('connection', (socket: Socket) => void begun.push(socket));
  paceHandshakes(server, (socket) => heard.push(socket));
  const connect = (count: number, from = '10.0.0.1'): readonly Socket[] =>
    Array.from({ length: count }, () => {
      const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: from });
      server.emit('connection', socket);
      return socket;
    });
  return { begun, heard, connect };
}

const say = (sockets: readonly Socket[], words = hello): void => {
  for (const socket of sockets) socket.push(words);
};

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn();
}

test('who says nothing does not stand in line, however many there are', async () => {
  const { begun, heard, connect } = setUp();
  connect(1_000);
  const [good] = connect(1);
  await turns(3);
  assert.deepEqual([begun, heard], [[], []]);
  say([good as Socket]);
  await turns(2);
  assert.deepEqual([begun, heard], [[good], [good]]);
  assert.deepEqual(good?.read(), hello, 'nothing of it is lost');
});

test('nor does who says half a message; one that is whole in the end begins', async () => {
  const { begun, connect } = setUp();
  const [slow] = connect(1) as [Socket];
  for (const byte of hello) {
    assert.deepEqual(begun, []);
    slow.push(Buffer.from([byte]));
    await turns(2);
  }
  assert.deepEqual(begun, [slow]);
  assert.deepEqual(slow.read(), hello);
});

test('what is no TLS is for the library to refuse', async () => {
  const { begun, connect } = setUp();
  const [odd] = connect(1) as [Socket];
  say([odd], Buffer.from('GET / HTTP/1.1\r\n'));
  await turns(2);
  assert.deepEqual(begun, [odd]);
});

test('a few begin in one turn, the newest of an address first', async () => {
  const { begun, connect } = setUp();
  const sockets = connect(10);
  say(sockets);
  const counts: number[] = [];
  for (let turn = 0; turn < 8; turn++) {
    await nextTurn();
    counts.push(begun.length);
  }
  for (const [at, count] of counts.entries()) assert.ok(count - (counts[at - 1] ?? 0) <= 3 || at === 0, counts.join());
  assert.equal(begun.length, 10);
  say(connect(12));
  await turns(2);
  assert.ok(begun.length < 22, `${begun.length} have begun`);
  const [last] = connect(1) as [Socket];
  say([last]);
  await turns(2);
  assert.ok(begun.includes(last), 'it came last, and does not wait for all others');
  assert.ok(begun.length < 23, `${begun.length} have begun`);
});

test('addresses take turns', async () => {
  const { begun, connect } = setUp();
  const flood = connect(50, '10.0.0.66');
  say(flood);
  await turns(1);
  const [good] = connect(1, '10.0.0.1') as [Socket];
  say([good]);
  await turns(3);
  assert.ok(begun.includes(good));
  assert.ok(begun.length < 20, `${begun.length} have begun`);
});

test('a client that has closed meanwhile takes no turn', async () => {
  const { begun, connect } = setUp();
  const sockets = connect(8);
  say(sockets);
  for (const socket of sockets) socket.destroy();
  const [good] = connect(1) as [Socket];
  say([good]);
  await turns(4);
  assert.ok(begun.includes(good));
  const [leaves] = connect(1) as [Socket];
  leaves.push(hello.subarray(0, 2));
  leaves.push(null);
  await turns(4);
  assert.equal(leaves.destroyed, true);
});
