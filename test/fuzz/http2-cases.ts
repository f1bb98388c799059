import type { Dice } from '../simulation/dice.ts';
import { say, stay, wait, type FuzzCase, type Step } from './case.ts';
import { noise, spoil } from './http1-cases.ts';
import {
  acknowledged,
  flags,
  frame,
  headerBlock,
  reset,
  settings,
  types,
  windowUpdate,
  type FrameType,
} from './http2-frames.ts';
import { ask, connection, headerFrames, hello, largeWindow, requestPairs, type Pair } from './http2-requests.ts';
import { aLeave, someHeaders, type Caller, type Header } from './requests.ts';
import { aTarget, queryMark } from './targets.ts';

/** Requests as a client should send them, several at a time; some are given up. */
export function http2PageCase(dice: Dice): FuzzCase {
  const { caller, ...rest } = connection(dice, 'http2 page');
  const steps: Step[] = [say(Buffer.concat([hello(largeWindow), windowUpdate(0, 2 ** 30)]))];
  let endless = false;
  for (let stream = 1, count = dice.whole(1, 12); count > 0; count--, stream += 2) {
    const asked = ask(dice, caller, stream);
    endless ||= asked.endless;
    steps.push(say(asked.bytes));
    if (dice.chance(0.15)) steps.push(wait(dice.whole(0, 20)), say(reset(stream, dice.whole(0, 14))));
  }
  return { ...rest, echoesCommand: true, steps, leave: aLeave(dice, endless) };
}

/** Answers that have nowhere to go: windows of nothing, or of a byte at a time. */
function windowGames(dice: Dice, caller: Caller): readonly Step[] {
  const steps: Step[] = [say(hello([4, dice.pick([0, 1, 10])]))];
  for (let stream = 1; stream < 20; stream += 2) {
    const { path } = aTarget(dice, dice.pick(['metrics', 'pods', 'containerLogs', 'statusz', 'metricsCadvisor']));
    const block = headerBlock(requestPairs('GET', path, someHeaders(dice, caller).slice(0, 1)));
    steps.push(say(headerFrames(stream, block, flags.endStream)));
  }
  for (let n = 0; n < 20; n++)
    steps.push(wait(dice.whole(0, 20)), say(windowUpdate(1 + 2 * dice.whole(0, 9), dice.pick([1, 7, 100]))));
  if (dice.chance(0.3)) steps.push(say(windowUpdate(0, 2 ** 31 - 1)), say(windowUpdate(1, 0)));
  if (dice.chance(0.3)) steps.push(say(settings([4, 2 ** 31 - 1])), say(settings([4, 0])));
  return steps;
}

/** Streams that are opened only to be reset. */
function resets(dice: Dice, caller: Caller): readonly Step[] {
  const block = headerBlock(requestPairs('GET', '/metrics', someHeaders(dice, caller).slice(0, 1)));
  const both = Array.from({ length: dice.whole(100, 600) }, (_, n) =>
    Buffer.concat([headerFrames(1 + 2 * n, block, flags.endStream), reset(1 + 2 * n)]),
  );
  return [say(Buffer.concat([hello(), ...both]))];
}

/** Headers without an end. */
function continuations(dice: Dice): readonly Step[] {
  const piece = headerBlock([['x-a', 'a'.repeat(dice.pick([0, 10, 8_000]))]]);
  const count = dice.pick([10, 500, 3_000]);
  const first = frame('headers', dice.pick([0, flags.endStream]), 1, headerBlock(requestPairs('GET', '/healthz', [])));
  const more = frame('continuation', 0, 1, piece);
  const steps: Step[] = [say(Buffer.concat([hello(), first]))];
  for (let sent = 0; sent < count; sent += 100) steps.push(say(Buffer.concat(Array.from({ length: 100 }, () => more))));
  if (dice.chance(0.3)) steps.push(say(frame('continuation', flags.endHeaders, 1)));
  return steps;
}

/** Many small frames of one sort, each of which wants an answer or some thought. */
function floods(dice: Dice): readonly Step[] {
  const one = dice.pick<Buffer>([
    settings(),
    settings([3, 5], [4, 65_535]),
    frame('ping', 0, 0, Buffer.alloc(8)),
    frame('priority', 0, 1, Buffer.from([0, 0, 0, 3, 16])),
    frame('data', 0, 1),
    frame('data', flags.padded, 1, Buffer.from([0])),
    windowUpdate(0, 1),
    frame(0xfe, 0xff, 1, noise(dice, 20)),
    acknowledged,
  ]);
  const open = headerFrames(1, headerBlock(requestPairs('POST', '/stats/summary', [])), 0);
  return [say(Buffer.concat([hello(), open, ...Array.from({ length: dice.pick([20, 500, 4_000]) }, () => one)]))];
}

/** Header lists as they must not be. */
function oddHeaders(dice: Dice, caller: Caller): readonly Step[] {
  const good = requestPairs('GET', '/healthz', someHeaders(dice, caller).slice(0, 1));
  const lists: readonly (readonly Pair[])[] = [
    good.slice(1),
    [...good, [':path', '/pods']],
    [[':path', '/pods'], ...good],
    [...good, ['Upper', 'x']],
    [...good, ['connection', 'close']],
    [...good, ['transfer-encoding', 'chunked']],
    [...good, ['te', 'gzip']],
    [...good, ['host', 'elsewhere']],
    [...good, ['content-length', '5']],
    [...good, ['content-length', '-1']],
    [...good, ['x-a', 'a\r\nx-injected: 1']],
    [...good, ['x-a\0b', 'c']],
    [...good, ['', '']],
    [...good, ['expect', '100-continue']],
    [[':method', 'CONNECT'], [':authority', 'elsewhere:80'], ...good.slice(4)],
    [
      [':method', 'CONNECT'],
      [':protocol', 'websocket'],
      [':scheme', 'https'],
      [':path', '/exec/default/web/good'],
      [':authority', 'n'],
    ],
    [
      [':method', ''],
      [':scheme', ''],
      [':authority', ''],
      [':path', ''],
    ],
    [
      [':method', 'GET'],
      [':scheme', 'https'],
      [':authority', 'n'],
      [':path', '*'],
    ],
    [[':status', '200'], ...good],
    [...good, ...Array.from({ length: 200 }, (_, n): Pair => [`x-${n}`, 'v'])],
    [...good, ['x-big', 'b'.repeat(dice.pick([70_000, 1_100_000]))]],
  ];
  const steps: Step[] = [say(hello(largeWindow))];
  for (let stream = 1, count = dice.whole(1, 5); count > 0; count--, stream += 2)
    steps.push(say(headerFrames(stream, headerBlock(dice.pick(lists)), flags.endStream)));
  return steps;
}

/** A table that is filled once and referred to many times: small blocks that become large lists. */
function bombs(dice: Dice): readonly Step[] {
  const value = Buffer.from('v'.repeat(3_900));
  // A literal that is put into the table, its name new; then the newest entry of the table, again and again.
  const fill = Buffer.concat([Buffer.from([0x40, 0x01, 0x78, 0x7f, 0xbd, 0x1d]), value]);
  const block = Buffer.concat([
    headerBlock(requestPairs('GET', '/healthz', [])),
    fill,
    Buffer.alloc(dice.pick([10, 300, 12_000]), 0xbe),
  ]);
  const odd = dice.pick([block, Buffer.alloc(4_000, 0xff), Buffer.from('3fffffffffffffff7f', 'hex'), noise(dice, 200)]);
  const steps: Step[] = [say(hello())];
  for (let stream = 1; stream < 1 + 2 * dice.whole(1, 8); stream += 2)
    steps.push(say(headerFrames(stream, odd, flags.endStream)));
  return steps;
}

/** Frames on streams where they have no business, with lengths that are wrong. */
function oddFrames(dice: Dice, caller: Caller): readonly Step[] {
  const names = Object.keys(types) as FrameType[];
  const frames = Array.from({ length: dice.whole(1, 12) }, () => {
    const type = dice.chance(0.9) ? dice.pick(names) : dice.whole(10, 255);
    const stream = dice.pick([0, 1, 2, 3, 7, 2 ** 31 - 1, 2 ** 32 - 1]);
    const payload = noise(dice, dice.pick([0, 1, 4, 5, 8, 17, 300]));
    const whole = frame(type, dice.whole(0, 255), stream, payload);
    if (dice.chance(0.15)) whole.writeUIntBE(dice.pick([0, 1, 16_385, 0xffffff]), 0, 3);
    return whole;
  });
  const { bytes } = ask(dice, caller, 1);
  const parts = dice.chance(0.5) ? [bytes, ...frames] : [...frames, bytes];
  return [say(hello(largeWindow)), ...parts.map(say)];
}

/** Whole conversations with a few bytes changed. */
function spoiltBytes(dice: Dice, caller: Caller): readonly Step[] {
  let bytes: Buffer = Buffer.concat([hello(largeWindow), ask(dice, caller, 1).bytes, ask(dice, caller, 3).bytes]);
  // Of the same length, because frames say how long they are.
  bytes = Buffer.from(bytes.toString('latin1').replaceAll(queryMark, 'x'.repeat(queryMark.length)), 'latin1');
  for (let count = dice.whole(1, 5); count > 0; count--) bytes = spoil(dice, bytes);
  return [say(bytes)];
}

/** Bodies that stop, are longer or shorter than was said, or come after the end. */
function oddBodies(dice: Dice, caller: Caller): readonly Step[] {
  const headers = someHeaders(dice, caller).slice(0, 1);
  const said: Header[] = dice.chance(0.5) ? [['content-length', `${dice.pick([0, 3, 1_000, 2 ** 40])}`]] : [];
  const { path } = aTarget(dice, dice.pick(['statsSummary', 'run', 'healthz', 'exec']));
  const head = headerFrames(1, headerBlock(requestPairs('POST', path, [...headers, ...said])), 0);
  const part = frame('data', 0, 1, Buffer.alloc(dice.pick([0, 10, 16_384]), 'd'));
  const end = dice.pick([
    Buffer.alloc(0),
    frame('data', flags.endStream, 1),
    headerFrames(1, headerBlock([['trailer', 'x']]), flags.endStream),
    headerFrames(1, headerBlock([[':path', '/pods']]), 0),
    Buffer.concat([frame('data', flags.endStream, 1), frame('data', 0, 1, Buffer.from('late'))]),
  ]);
  const parts = Array.from({ length: dice.whole(1, 6) }, () => part);
  return [
    say(hello(largeWindow)),
    say(head),
    ...parts.flatMap((bytes) => [wait(dice.whole(0, 10)), say(bytes)]),
    say(end),
  ];
}

const oddities = { windowGames, resets, continuations, floods, oddHeaders, bombs, oddFrames, spoiltBytes, oddBodies };
const oddNames = Object.keys(oddities) as (keyof typeof oddities)[];

/** HTTP/2 as nobody should speak it. */
export function http2OddCase(dice: Dice): FuzzCase {
  const name = dice.pick(oddNames);
  const { caller, ...rest } = connection(dice, `http2 ${name}`);
  const steps = oddities[name](dice, caller);
  const leave = dice.chance(0.6) ? stay : aLeave(dice);
  // Among what is changed at random may be a page that goes on for ever.
  const patient = name === 'spoiltBytes' || name === 'oddFrames' || name === 'windowGames' ? aLeave(dice, true) : leave;
  return { ...rest, echoesCommand: true, steps, leave: patient };
}
