import type { Dice } from '../simulation/dice.ts';
import { say, stay, wait, type FuzzCase, type Step } from './case.ts';
import {
  aBody,
  aCaller,
  aLeave,
  aListener,
  aMethod,
  aRequestTarget,
  isEndless,
  someHeaders,
  tlsOf,
  type Header,
} from './requests.ts';
import { aTarget, queryMark, type FuzzTarget } from './targets.ts';

export function headText(method: string, target: string, headers: readonly Header[], version = 'HTTP/1.1'): string {
  return `${method} ${target} ${version}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

/** A connection that is begun; what is said on it comes next. */
function begin(
  dice: Dice,
  kind: string,
): Pick<FuzzCase, 'kind' | 'listener' | 'protocol' | 'tls' | 'entry'> & {
  readonly caller: ReturnType<typeof aCaller>;
} {
  const listener = aListener(dice);
  const caller = aCaller(dice);
  const tls =
    listener === 'secure' ? tlsOf(dice, caller, dice.pick([['http/1.1'], [], ['http/1.1', 'h2x']])) : undefined;
  return { kind, listener, protocol: 'http1', tls, entry: caller.entry, caller };
}

/** Whoever runs a command, or sets a number that is none, is told what it was. */
const marksOf = ({ id }: FuzzTarget): Pick<FuzzCase, 'echoesCommand'> =>
  id.startsWith('run') || id === 'verbosity' ? { echoesCommand: true } : {};

/** One request, as a client should send it but for what it asks for. */
export function pageCase(dice: Dice): FuzzCase {
  const { caller, ...rest } = begin(dice, 'page');
  const target = aRequestTarget(dice, 0.25);
  const method = aMethod(dice, target);
  const body = method === 'POST' || method === 'PUT' ? aBody(dice) : Buffer.alloc(0);
  const headers: Header[] = [['Host', 'node'], ...someHeaders(dice, caller)];
  if (body.length > 0) headers.push(['Content-Length', `${body.length}`]);
  if (dice.chance(0.9)) headers.push(['Connection', 'close']);
  const head = headText(method, target.path, headers);
  const steps = [say(Buffer.concat([Buffer.from(head, 'latin1'), body]))];
  const leave = aLeave(dice, isEndless(target));
  return { ...rest, ...marksOf(target), steps, leave, methods: head.length < 900_000 ? [method] : undefined };
}

/** Several requests at once on one connection. */
export function pipelineCase(dice: Dice): FuzzCase {
  const { caller, ...rest } = begin(dice, 'pipeline');
  const count = dice.whole(2, 30);
  const repeats = dice.chance(0.3)
    ? aTarget(dice, dice.pick(['metrics', 'pods', 'containerLogs', 'statusz']))
    : undefined;
  const targets = Array.from({ length: count }, () => repeats ?? aRequestTarget(dice, 0.05));
  const calm = targets.filter((target) => !isEndless(target));
  const credentials = someHeaders(dice, caller).filter(([name]) => name === 'Authorization');
  const methods = calm.map(() => dice.pick(['GET', 'GET', 'GET', 'HEAD']));
  const heads = calm.map(({ path }, at) => {
    const last: Header[] = at === calm.length - 1 ? [['Connection', 'close']] : [];
    return headText(methods[at] ?? 'GET', path, [['Host', 'node'], ...credentials, ...last]);
  });
  const leave = aLeave(dice);
  return {
    ...rest,
    echoesCommand: true,
    steps: [say(heads.join(''))],
    leave,
    methods: calm.length > 0 ? methods : undefined,
  };
}

/** Bytes of a request with something wrong in them. */
export function spoiltCase(dice: Dice): FuzzCase {
  const { caller, ...rest } = begin(dice, 'spoilt');
  const target = aRequestTarget(dice, 0.1);
  const text = headText('GET', target.path, [['Host', 'node'], ...someHeaders(dice, caller), ['Connection', 'close']]);
  // What was a query may become a path, and paths may be told.
  let bytes: Buffer = Buffer.from(text.replaceAll(queryMark, 'nosecret'), 'latin1');
  for (let count = dice.whole(1, 4); count > 0; count--) bytes = spoil(dice, bytes);
  const leave = aLeave(dice, isEndless(target));
  return { ...rest, echoesCommand: true, steps: inPieces(dice, bytes), leave };
}

const controls = [
  '\0',
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  '\t',
  ' ',
  ':',
  '\x7f',
  '\xff',
  '\v',
  ' \r\n ',
  '%00',
  '\u0080',
];

const damages: Readonly<Record<string, (dice: Dice, before: Buffer, behind: Buffer) => Buffer>> = {
  flip: (dice, before, behind) => {
    const copy = Buffer.concat([before, behind]);
    const at = before.length;
    if (at < copy.length) copy[at] = (copy[at] ?? 0) ^ (1 << dice.whole(0, 7));
    return copy;
  },
  insert: (dice, before, behind) => Buffer.concat([before, Buffer.from(dice.pick(controls), 'latin1'), behind]),
  remove: (dice, before, behind) => Buffer.concat([before, behind.subarray(dice.whole(1, 30))]),
  double: (dice, before, behind) => Buffer.concat([before, behind.subarray(0, dice.whole(1, 30)), behind]),
  cut: (_, before) => Buffer.from(before),
  noise: (dice, before, behind) => Buffer.concat([before, noise(dice, dice.whole(1, 30)), behind]),
};
const damageWeights = { flip: 3, insert: 4, remove: 2, double: 2, cut: 1, noise: 1 };

/** The same bytes with one thing wrong; mostly near the beginning, where the structure is. */
export function spoil(dice: Dice, bytes: Buffer): Buffer {
  const at = dice.whole(0, Math.min(bytes.length, dice.chance(0.8) ? 400 : bytes.length));
  return damages[dice.weighted(damageWeights)]?.(dice, bytes.subarray(0, at), bytes.subarray(at)) ?? bytes;
}

export function noise(dice: Dice, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => dice.whole(0, 255)));
}

/** The same bytes, at times in small pieces with pauses. */
function inPieces(dice: Dice, bytes: Buffer): readonly Step[] {
  if (dice.chance(0.7)) return [say(bytes)];
  const steps: Step[] = [];
  for (let at = 0; at < bytes.length && steps.length < 40;) {
    const length = dice.whole(1, Math.max(40, bytes.length / 15));
    steps.push(say(bytes.subarray(at, at + length)), wait(dice.whole(0, 10)));
    at += length;
  }
  return steps;
}

const conflicts: readonly (readonly Header[])[] = [
  [
    ['Content-Length', '5'],
    ['Transfer-Encoding', 'chunked'],
  ],
  [
    ['Transfer-Encoding', 'chunked'],
    ['Content-Length', '5'],
  ],
  [
    ['Content-Length', '5'],
    ['Content-Length', '6'],
  ],
  [['Content-Length', '5, 6']],
  [['Content-Length', '+5']],
  [['Content-Length', '0x5']],
  [['Content-Length', '5 5']],
  [['Content-Length', '99999999999999999999999']],
  [['Transfer-Encoding', 'chunked, identity']],
  [['Transfer-Encoding', 'xchunked']],
  [['Transfer-Encoding', 'chunked\v']],
  [['Transfer-Encoding ', 'chunked']],
  [['Transfer-Encoding\t', 'chunked']],
  [['Transfer-Encoding', 'identity']],
  [['Content-Length ', '5']],
  [['X-A', 'b\rContent-Length: 40']],
  [['X-A', 'b\nTransfer-Encoding\0: chunked']],
];

/** A request whose end can be read in two ways, and another behind it that nobody may answer. */
export function smuggleCase(dice: Dice): FuzzCase {
  const { caller, ...rest } = begin(dice, 'smuggle');
  const target = aTarget(dice, dice.pick(['statsSummary', 'run', 'checkpoint', 'healthz', 'pods']));
  const credentials = someHeaders(dice, caller).filter(([name]) => name === 'Authorization');
  const head = headText('POST', target.path, [['Host', 'node'], ...credentials, ...dice.pick(conflicts)]);
  const hidden = headText('GET', '/pods', [['Host', 'node'], ...credentials, ['Connection', 'close']]);
  const body = dice.pick(['0\r\n\r\n', 'abcde', '5\r\nabcde\r\n0\r\n\r\n', '']);
  return { ...rest, echoesCommand: true, oneAnswer: true, steps: [say(head + body + hidden)], leave: stay };
}

const chunks: readonly string[] = [
  '5\r\nabcde\r\n0\r\n\r\n',
  '5;name=value\r\nabcde\r\n0\r\nTrailer: x\r\n\r\n',
  `1;${'x'.repeat(20_000)}\r\na\r\n0\r\n\r\n`,
  'fffffffffffffffff\r\nabc',
  '-1\r\n',
  '5\r\nabc',
  '5\nabcde\n0\n\n',
  '1\r\na\r\n'.repeat(300),
  '0\r\n\r\n',
  `4000\r\n${'x'.repeat(0x4000)}\r\n`.repeat(6),
  '\r\n\r\n',
];

/** What follows a head that announces so many bytes. */
interface Announced {
  readonly length: number | string;
  readonly steps: readonly Step[];
}

const bodies: Readonly<Record<string, (dice: Dice) => Announced>> = {
  short: (dice) => ({ length: dice.whole(10, 2_000), steps: [say('short')] }),
  slow: (dice) => ({
    length: 30,
    steps: Array.from({ length: 30 }, () => [wait(dice.whole(0, 60)), say('s')]).flat(),
  }),
  large: () => ({ length: 70_000, steps: [say('l'.repeat(70_000))] }),
  huge: (dice) => ({
    length: dice.pick(['9007199254740993', '1e9', '4294967296', '1099511627776']),
    steps: [say('h'.repeat(dice.whole(1, 200_000)))],
  }),
  long: () => ({ length: 5, steps: [say('longer than was said')] }),
};
const bodyWeights = { chunked: 4, short: 2, slow: 2, large: 2, huge: 1, long: 1 };

/** Bodies that are too large, too slow, too short, or not what was announced. */
export function bodyCase(dice: Dice): FuzzCase {
  const { caller, ...rest } = begin(dice, 'body');
  const target = aTarget(dice, dice.pick(['statsSummary', 'run', 'checkpoint', 'verbosity', 'healthz', 'exec']));
  const method = dice.chance(0.8) ? (target.id === 'verbosity' ? 'PUT' : 'POST') : 'GET';
  const headers: Header[] = [['Host', 'node'], ...someHeaders(dice, caller)];
  if (dice.chance(0.3))
    headers.push(['Expect', dice.pick(['100-continue', '100-Continue', '200-ok', '100-continue, x'])]);
  if (dice.chance(0.8)) headers.push(['Connection', 'close']);
  const announced = bodies[dice.weighted(bodyWeights)]?.(dice);
  const framing: Header =
    announced === undefined ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', `${announced.length}`];
  const head = say(headText(method, target.path, [...headers, framing]));
  const steps = [head, ...(announced?.steps ?? [say(dice.pick(chunks))])];
  return { ...rest, echoesCommand: true, steps, leave: aLeave(dice, isEndless(target)) };
}

/** Requests that stop in the middle, or come one byte at a time. */
export function haltCase(dice: Dice): FuzzCase {
  const { caller, ...rest } = begin(dice, 'halt');
  const text = headText('GET', aTarget(dice).path, [['Host', 'node'], ...someHeaders(dice, caller)]).slice(0, 3_000);
  const bytes = Buffer.from(text.slice(0, dice.whole(0, text.length - 1)), 'latin1');
  const slowly = bytes.subarray(-60);
  const drip = Array.from(slowly, (byte): readonly Step[] => [
    say(Buffer.from([byte])),
    wait(dice.whole(0, 30)),
  ]).flat();
  const steps = dice.chance(0.6) ? [say(bytes)] : [say(bytes.subarray(0, -60)), ...drip];
  return { ...rest, steps, leave: aLeave(dice) };
}
