import { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import type { Dice } from '../simulation/dice.ts';
import { say, wait, type FuzzCase, type Step, type TlsChoice } from './case.ts';
import { headText, noise, spoil } from './http1-cases.ts';
import { aCaller, aLeave, aListener, someHeaders, tlsOf } from './requests.ts';
import { aTarget } from './targets.ts';

/** The first words of a client that would speak TLS. */
export async function recordHello(): Promise<Buffer> {
  return new Promise((resolve) => {
    const wire = new Duplex({
      read() {},
      write(chunk: Buffer, _encoding, done) {
        resolve(chunk);
        done();
        wire.destroy();
      },
    });
    connect({ socket: wire, servername: 'node', ALPNProtocols: ['h2', 'http/1.1'] }).on('error', () => {});
  });
}

const record = (type: number, payload: Buffer, version = 0x0303): Buffer => {
  const head = Buffer.from([type, version >> 8, version & 255, 0, 0]);
  head.writeUInt16BE(payload.length & 0xffff, 3);
  return Buffer.concat([head, payload]);
};

/** The same message in records of a few bytes each. */
function inRecords(dice: Dice, hello: Buffer): Buffer {
  const message = hello.subarray(5);
  const pieces: Buffer[] = [];
  for (let at = 0; at < message.length;) {
    const length = dice.whole(0, 40);
    pieces.push(record(0x16, message.subarray(at, at + length)));
    at += length;
  }
  return Buffer.concat(pieces);
}

const many = (dice: Dice, most: number, bytes: Buffer): Buffer =>
  Buffer.concat(Array.from({ length: dice.whole(1, most) }, () => bytes));

const hellos: Readonly<Record<string, (dice: Dice, hello: Buffer) => readonly Step[]>> = {
  cut: (dice, hello) => [say(hello.subarray(0, dice.whole(0, hello.length)))],
  spoilt: (dice, hello) => {
    let bytes = hello;
    for (let count = dice.whole(1, 4); count > 0; count--) bytes = spoil(dice, bytes);
    return [say(bytes)];
  },
  records: (dice, hello) => [say(inRecords(dice, hello))],
  twice: (dice, hello) => [say(hello), wait(dice.whole(0, 30)), say(hello)],
  garbage: (dice) => [say(noise(dice, dice.whole(1, 3_000)))],
  alerts: (dice) => [say(many(dice, 50, record(0x15, Buffer.from([1, 0]))))],
  plain: (dice) => [say(headText(dice.pick(['GET', 'POST']), aTarget(dice).path, [['Host', 'node']]))],
  empty: (dice) => [say(many(dice, 200, record(0x16, Buffer.alloc(0))))],
  old: () => [say(Buffer.from('802e0100020015000000100100800300800700c006004002008004008000000000', 'hex'))],
  huge: (dice) => {
    const version = dice.pick([0x0301, 0x0304, 0xffff]);
    return [say(record(dice.pick([0x16, 0x17, 0x14]), noise(dice, 16_000), version))];
  },
};
const helloNames = Object.keys(hellos);

/** Handshakes that fail, and ports that are taken for others. */
export function handshakeCase(dice: Dice, hello: Buffer): FuzzCase {
  const listener = dice.chance(0.8) ? 'secure' : aListener(dice);
  const kind = 'handshake';
  const steps = hellos[dice.pick(helloNames)]?.(dice, hello) ?? [];
  return { kind, listener, protocol: 'none', entry: 'nobody', steps, leave: aLeave(dice) };
}

/** A good handshake whose bytes are damaged on the way, then or later. */
export function damagedCase(dice: Dice): FuzzCase {
  const caller = aCaller(dice);
  const how = dice.pick(['flip', 'lose', 'stop', 'double'] as const);
  const damage: TlsChoice['damage'] = { from: dice.whole(0, dice.chance(0.5) ? 600 : 4_000), how };
  const alpn = dice.pick([['http/1.1'], ['h2'], ['h2', 'http/1.1'], []]);
  const head = headText('GET', aTarget(dice, 'metrics').path, [['Host', 'node'], ...someHeaders(dice, caller)]);
  const steps = [say(head), wait(dice.whole(0, 20)), say(head.repeat(dice.whole(0, 10)))];
  const tls = { ...tlsOf(dice, caller, alpn), damage };
  return {
    kind: 'damaged',
    listener: 'secure',
    protocol: 'none',
    entry: caller.entry,
    tls,
    steps,
    leave: aLeave(dice),
  };
}

/** Somebody who agrees on one protocol and speaks another. */
export function mistakenCase(dice: Dice): FuzzCase {
  const caller = aCaller(dice);
  const tls = tlsOf(dice, caller, dice.pick([['h2'], ['http/1.0'], ['h3'], ['spdy/3'], ['x'.repeat(200)]]));
  const steps = [
    say(
      dice.pick([headText('GET', '/pods', [['Host', 'n']]), '\0'.repeat(100), 'PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n', '']),
    ),
    ...(dice.chance(0.5) ? [say(noise(dice, dice.whole(1, 500)))] : []),
  ];
  return {
    kind: 'mistaken',
    listener: 'secure',
    protocol: 'none',
    entry: caller.entry,
    tls,
    steps,
    leave: aLeave(dice),
  };
}
