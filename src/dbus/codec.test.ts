import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Authentication } from './authentication.ts';
import { systemBusSockets } from './addresses.ts';
import { MessageSplitter } from './message-splitter.ts';
import { decodeMessage, encodeMessage, messageLength } from './message.ts';
import { parseSignature } from './signature.ts';
import { MalformedMessage, type DBusValue } from './values.ts';

const signal = { type: 'signal', path: '/a', interface: 'a.b', member: 'C' } as const;
const malformed = (text: RegExp) => (error: unknown) => error instanceof MalformedMessage && text.test(error.message);

/** A variant within a variant, so many times. */
function nested(depth: number): DBusValue {
  return depth === 0 ? { signature: 'y', value: 1 } : { signature: 'v', value: nested(depth - 1) };
}

/** What dbus-daemon 1.14 sends after Hello. */
const ofDaemon = Buffer.from(
  '6c02010109000000010000003d00000006017300040000003a312e30000000000501750001000000080167000173000007017300' +
    '140000006f72672e667265656465736b746f702e4442757300000000040000003a312e30006c04010109000000020000008d0000' +
    '0001016f00150000002f6f72672f667265656465736b746f702f4442757300000002017300140000006f72672e66726565646573' +
    '6b746f702e4442757300000000030173000c0000004e616d6541637175697265640000000006017300040000003a312e30000000' +
    '00080167000173000007017300140000006f72672e667265656465736b746f702e4442757300000000040000003a312e3000',
  'hex',
);

test('messages of a real bus are read', () => {
  const messages = [...new MessageSplitter().push(ofDaemon)];
  assert.deepEqual(
    messages.map(({ type, serial, replySerial, member, path, destination, sender }) => [
      type,
      serial,
      replySerial,
      member,
      path,
      destination,
      sender,
    ]),
    [
      ['return', 1, 1, undefined, undefined, ':1.0', 'org.freedesktop.DBus'],
      ['signal', 2, undefined, 'NameAcquired', '/org/freedesktop/DBus', ':1.0', 'org.freedesktop.DBus'],
    ],
  );
  assert.deepEqual(
    messages.map((message) => message.body()),
    [[':1.0'], [':1.0']],
  );
});

test('sizes and depths are bounded when writing and when reading', () => {
  const fits = encodeMessage(signal, 1, 'v', [nested(63)]);
  assert.deepEqual(decodeMessage(fits)?.body(), [nested(63)]);
  assert.throws(() => encodeMessage(signal, 1, 'v', [nested(64)]), malformed(/nested too deep/));
  assert.throws(() => encodeMessage(signal, 1, 'ay', [new Uint8Array(1 << 20)]), malformed(/too large/));
  const large = encodeMessage(signal, 1, 'ay', [new Uint8Array(16)]);
  large.writeUInt32LE(128 << 20, 4);
  assert.throws(() => messageLength(large), malformed(/bytes/));
  // As one variant more than we would write ourselves.
  const deep = Buffer.concat([Buffer.alloc(65 * 3, Buffer.from([1, 0x76, 0])), Buffer.from([1, 0x79, 0, 7])]);
  const head = encodeMessage(signal, 1, 'v', [nested(0)]);
  const whole = Buffer.concat([head.subarray(0, head.length - 4), deep]);
  whole.writeUInt32LE(deep.length, 4);
  assert.throws(() => decodeMessage(whole)?.body(), malformed(/nested too deep/));
});

test('messages that are too large, or of unknown types, are left out, wherever the stream is cut', () => {
  const small = (serial: number): Buffer => encodeMessage(signal, serial);
  const large = Buffer.concat([encodeMessage(signal, 2, 'ay', [new Uint8Array(1)]), Buffer.alloc(3 << 20)]);
  // The length of the array stands before its one byte.
  large.writeUInt32LE((3 << 20) + 5, 4);
  const unknown = small(3);
  unknown[1] = 77;
  const stream = Buffer.concat([small(1), large, unknown, small(4), large, small(5)]);
  for (const cut of [stream.length, 1 << 20, 100_003, 4_096]) {
    const splitter = new MessageSplitter();
    const serials: number[] = [];
    for (let at = 0; at < stream.length; at += cut) {
      for (const { serial } of splitter.push(stream.subarray(at, at + cut))) serials.push(serial);
    }
    assert.deepEqual(serials, [1, 4, 5], String(cut));
  }
});

test('signatures', () => {
  const good = ['', 'a{sv}', 'a(ii)', `${'a'.repeat(32)}y`, `${'('.repeat(32)}y${')'.repeat(32)}`, 'y'.repeat(255)];
  for (const each of good) assert.ok(parseSignature(each), each);
  const bad = [
    'a',
    '(',
    ')',
    '()',
    'e',
    '{sv}',
    'a{vs}',
    'a{s}',
    'a{sss}',
    'a{s',
    '(y',
    `${'a'.repeat(33)}y`,
    `${'('.repeat(33)}y${')'.repeat(33)}`,
    'y'.repeat(256),
  ];
  for (const each of bad) assert.throws(() => parseSignature(each), malformed(/signature/), each);
});

test('values that do not fit their type are not written', () => {
  const wrong: readonly (readonly [string, DBusValue])[] = [
    ['y', 256],
    ['y', -1],
    ['y', 1.5],
    ['n', 40_000],
    ['u', -1],
    ['u', 2 ** 32],
    ['t', -1n],
    ['x', 1n << 63n],
    ['t', 5],
    ['u', 5n],
    ['b', 1],
    ['s', 'a\0b'],
    ['s', '\ud800'],
    ['o', 'a/b'],
    ['o', '/a/'],
    ['g', 'e'],
    ['as', 'a'],
    ['ay', [1]],
    ['ai', new Uint8Array(1)],
    ['(yy)', [1]],
    ['v', 'text'],
    ['v', { signature: 'yy', value: 1 }],
    ['d', '1'],
  ];
  for (const [signature, value] of wrong) {
    assert.throws(() => encodeMessage(signal, 1, signature, [value]), MalformedMessage, `${signature} ${typeof value}`);
  }
  assert.throws(() => encodeMessage(signal, 1, 'ss', ['one']), malformed(/1 values/));
});

test('headers that lack or repeat something are refused', () => {
  const good = encodeMessage(signal, 1);
  const changed = (at: number, byte: number): Buffer => {
    const bytes = Buffer.from(good);
    bytes[at] = byte;
    return bytes;
  };
  assert.ok(decodeMessage(good));
  for (const [at, byte, type] of [
    [0, 0x78, /order of bytes/],
    [1, 0, /no type/],
    [1, 1, 'call'],
    [1, 5, undefined],
    [1, 2, /without replySerial/],
    [3, 2, /version 2/],
    [8, 0, /serial is 0/],
    [16, 2, /interface/],
    [4, 1, /wrong length/],
  ] as const) {
    if (!(type instanceof RegExp)) assert.equal(decodeMessage(changed(at, byte))?.type, type);
    else assert.throws(() => decodeMessage(changed(at, byte)), malformed(type), String(at));
  }
});

test('the authentication is said at once, and what comes behind its answers is kept', () => {
  const plain = new Authentication({ uid: 0, descriptors: false });
  assert.equal(plain.lines, '\0AUTH EXTERNAL 30\r\nBEGIN\r\n');
  assert.equal(plain.push(Buffer.from('OK 01')), undefined);
  assert.equal(plain.push(Buffer.from('23\r\nrest'))?.toString(), 'rest');
  const withDescriptors = new Authentication({ uid: 1000, descriptors: true });
  assert.equal(withDescriptors.lines, '\0AUTH EXTERNAL 31303030\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n');
  assert.equal(withDescriptors.push(Buffer.from('OK 0123\r\n')), undefined);
  assert.equal(withDescriptors.push(Buffer.from('AGREE_UNIX_FD\r\n'))?.length, 0);
});

test('an authentication may be refused, and has an end', () => {
  const begun = (descriptors: boolean) => new Authentication({ uid: 0, descriptors });
  assert.throws(() => begun(false).push(Buffer.from('REJECTED EXTERNAL\r\n')), { kind: 'denied' });
  assert.throws(() => begun(true).push(Buffer.from('OK 1\r\nERROR\r\n')), { kind: 'unsupported' });
  assert.throws(() => begun(false).push(Buffer.alloc(5_000, 'x')), MalformedMessage);
});

test('the bus is found by its address', () => {
  const rows: readonly (readonly [string | undefined, readonly string[]])[] = [
    [undefined, ['/var/run/dbus/system_bus_socket']],
    ['', ['/var/run/dbus/system_bus_socket']],
    ['unix:path=/run/a%20b,guid=12', ['/run/a b']],
    ['unix:guid=12,path=/run/a', ['/run/a']],
    ['tcp:host=localhost,port=1;unix:abstract=name;unix:path=/b', ['@name', '/b']],
    ['unix:tmpdir=/tmp', []],
    ['nonsense', []],
  ];
  for (const [address, sockets] of rows) {
    assert.deepEqual(systemBusSockets({ DBUS_SYSTEM_BUS_ADDRESS: address }), sockets, address);
  }
});
