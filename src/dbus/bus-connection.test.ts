import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeDescriptor } from '../testing/fake-bus/fake-bus-client.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { BusConnection } from './bus-connection.ts';
import { decodeMessage, encodeMessage, type MessageHeader } from './message.ts';
import type { DBusValue } from './values.ts';

const ask = { path: '/a', interface: 'a.b', member: 'Ask' } as const;

function world() {
  const clock = new FakeClock();
  const sent: Buffer[] = [];
  let closed = 0;
  const transport = { write: (bytes: Uint8Array) => void sent.push(Buffer.from(bytes)), close: () => void closed++ };
  const connection = new BusConnection({ clock, transport });
  const receive = (
    header: MessageHeader,
    signature = '',
    body: readonly DBusValue[] = [],
    fds: readonly FakeDescriptor[] = [],
  ) => connection.receive(encodeMessage(header, 99, signature, body), fds);
  return { clock, sent, connection, receive, closedCount: () => closed };
}

test('answers find their calls, in any order', async () => {
  const { sent, connection, receive } = world();
  const [first, second, third] = [connection.call(ask), connection.call(ask), connection.call(ask)];
  assert.deepEqual(
    sent.map((bytes) => decodeMessage(bytes)?.serial),
    [1, 2, 3],
  );
  receive({ type: 'return', replySerial: 2 }, 's', ['two']);
  receive({ type: 'error', replySerial: 3, errorName: 'a.Failed' });
  receive({ type: 'return', replySerial: 1 }, 's', ['one']);
  receive({ type: 'return', replySerial: 1 }, 's', ['again']);
  receive({ type: 'return', replySerial: 77 });
  assert.deepEqual([(await first)?.body, (await second)?.body], [['one'], ['two']]);
  await assert.rejects(third ?? Promise.resolve(), { message: 'a.Failed', code: 'a.Failed', kind: 'internal' });
});

test('calls under way are bounded, and end with the connection', async () => {
  const { connection, closedCount } = world();
  const calls = Array.from({ length: 1_024 }, () => connection.call(ask));
  await assert.rejects(connection.call(ask), { kind: 'exhausted' });
  connection.lose(new Error('why'));
  connection.lose();
  const ends = await Promise.allSettled(calls);
  assert.ok(ends.every((end) => end.status === 'rejected' && end.reason.kind === 'unavailable'));
  await assert.rejects(connection.call(ask), { kind: 'unavailable' });
  assert.equal((await connection.closed).cause instanceof Error, true);
  assert.equal(closedCount(), 1);
});

test('a call that cannot be written is refused, and the next one is not', async () => {
  const { sent, connection } = world();
  await assert.rejects(connection.call({ ...ask, signature: 'y', body: [256] }), { kind: 'invalid' });
  await assert.rejects(connection.call({ ...ask, path: 'a' }), { kind: 'invalid' });
  connection.call(ask).catch(() => {});
  assert.equal(sent.length, 1);
});

test('an answer whose body is wrong fails its call alone', async () => {
  const { connection, receive } = world();
  const [first, second] = [connection.call(ask), connection.call(ask)];
  // A boolean that is neither true nor false.
  const wrong = encodeMessage({ type: 'return', replySerial: 1 }, 9, 'b', [true]);
  wrong[wrong.length - 4] = 2;
  connection.receive(wrong, []);
  receive({ type: 'return', replySerial: 2 });
  await assert.rejects(first, { kind: 'invalid' });
  assert.deepEqual((await second).body, []);
});

test('bytes that are no message end the connection', async () => {
  const { connection } = world();
  const call = connection.call(ask);
  connection.receive(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), []);
  await assert.rejects(call, { kind: 'unavailable' });
  assert.match(String((await connection.closed).cause), /malformed D-Bus message/);
});

test('descriptors go to the call they answer, and are closed everywhere else', async () => {
  const { clock, connection, receive } = world();
  const fds = Array.from({ length: 6 }, () => new FakeDescriptor());
  const [kept, refused, late, stray, left, afterEnd] = fds as [
    FakeDescriptor,
    FakeDescriptor,
    FakeDescriptor,
    FakeDescriptor,
    FakeDescriptor,
    FakeDescriptor,
  ];
  const calls = [connection.call(ask), connection.call(ask), connection.call(ask, 10)] as const;
  const outcome = Promise.allSettled(calls);
  receive({ type: 'return', replySerial: 1, unixFds: 1 }, 'h', [0], [kept]);
  receive({ type: 'error', replySerial: 2, errorName: 'a.Failed', unixFds: 1 }, '', [], [refused]);
  await clock.advance(20);
  receive({ type: 'return', replySerial: 3, unixFds: 1 }, 'h', [0], [late]);
  receive({ ...ask, type: 'signal', unixFds: 1 }, '', [], [stray]);
  // Belongs to a message that never comes whole.
  connection.receive(Buffer.alloc(0), [left]);
  connection.lose();
  connection.receive(Buffer.alloc(0), [afterEnd]);
  assert.deepEqual(
    (await outcome).map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected'],
  );
  assert.deepEqual(
    fds.map(({ closed }) => closed),
    [0, 1, 1, 1, 1, 1],
  );
});

test('descriptors that are promised and do not come, or come without end, end the connection', async () => {
  const missing = world();
  missing.receive({ ...ask, type: 'signal', unixFds: 1 });
  assert.match(String((await missing.connection.closed).cause), /descriptors are missing/);
  const many = world();
  const fds = Array.from({ length: 17 }, () => new FakeDescriptor());
  many.connection.receive(Buffer.alloc(0), fds);
  assert.match(String((await many.connection.closed).cause), /too many descriptors/);
  assert.ok(fds.every(({ closed }) => closed === 1));
});

test('a caller gets the error that there is no such method', () => {
  const { sent, receive } = world();
  receive({ ...ask, type: 'call', sender: ':1.7' });
  receive({ ...ask, type: 'call', sender: ':1.7', noReplyExpected: true });
  const answers = sent.map((bytes) => decodeMessage(bytes)!);
  assert.deepEqual(
    answers.map(({ type, errorName, replySerial, destination }) => [type, errorName, replySerial, destination]),
    [['error', 'org.freedesktop.DBus.Error.UnknownMethod', 99, ':1.7']],
  );
});
