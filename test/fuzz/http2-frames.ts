export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export const types = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goAway: 7,
  window: 8,
  continuation: 9,
} as const;
export type FrameType = keyof typeof types;

export const flags = { endStream: 1, acknowledge: 1, endHeaders: 4, padded: 8, priority: 0x20 } as const;

export function frame(
  type: FrameType | number,
  flag: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length & 0xffffff, 0, 3);
  head[3] = typeof type === 'number' ? type : types[type];
  head[4] = flag;
  head.writeUInt32BE(stream >>> 0, 5);
  return Buffer.concat([head, payload]);
}

export function settings(...pairs: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(6 * pairs.length);
  for (const [at, [id, value]] of pairs.entries()) {
    payload.writeUInt16BE(id, at * 6);
    payload.writeUInt32BE(value >>> 0, at * 6 + 2);
  }
  return frame('settings', 0, 0, payload);
}

export const acknowledged = frame('settings', flags.acknowledge, 0);

export function windowUpdate(stream: number, size: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(size >>> 0);
  return frame('window', 0, stream, payload);
}

export function reset(stream: number, code = 8): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(code);
  return frame('reset', 0, stream, payload);
}

/** A header block that refers to nothing that was said before, without compression. */
export function headerBlock(headers: readonly (readonly [name: string, value: string])[]): Buffer {
  return Buffer.concat(headers.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  return Buffer.concat([prefixed(bytes.length, 7), bytes]);
}

function prefixed(value: number, bits: number): Buffer {
  const most = 2 ** bits - 1;
  if (value < most) return Buffer.from([value]);
  const bytes = [most];
  for (let rest = value - most; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) {
      bytes.push(rest);
      return Buffer.from(bytes);
    }
    bytes.push((rest % 128) + 128);
  }
}

interface HeardFrames {
  /** Status of each stream that was answered, as far as it can be told. */
  readonly statuses: ReadonlyMap<number, number | undefined>;
  /** Streams whose answers came to their end. */
  readonly ended: ReadonlySet<number>;
  /** What stood in DATA frames, by stream. */
  readonly bodies: ReadonlyMap<number, string>;
  readonly wentAway: boolean;
  /** The bytes are not frames. */
  readonly isNonsense: boolean;
}

const mostBody = 4_096;
const largestFrame = 1 << 24;

/** Takes apart what a server said. */
export function readFrames(bytes: Buffer): HeardFrames {
  const statuses = new Map<number, number | undefined>();
  const ended = new Set<number>();
  const bodies = new Map<number, string>();
  let wentAway = false;
  for (let at = 0; at + 9 <= bytes.length;) {
    const length = bytes.readUIntBE(at, 3);
    const [type = 0, flag = 0] = bytes.subarray(at + 3, at + 5);
    const stream = bytes.readUInt32BE(at + 5);
    if (type > 12 || length >= largestFrame) return { statuses, ended, bodies, wentAway, isNonsense: true };
    const payload = bytes.subarray(at + 9, at + 9 + length);
    if (type === types.headers && !statuses.has(stream)) statuses.set(stream, statusIn(payload));
    if (type === types.data && (bodies.get(stream)?.length ?? 0) < mostBody)
      bodies.set(stream, `${bodies.get(stream) ?? ''}${payload.toString('latin1', 0, mostBody)}`);
    if ((type === types.data || type === types.headers) && (flag & flags.endStream) !== 0) ended.add(stream);
    if (type === types.goAway) wentAway = true;
    at += 9 + length;
  }
  return { statuses, ended, bodies, wentAway, isNonsense: false };
}

const staticStatuses: readonly number[] = [200, 204, 206, 304, 400, 404, 500];

/** The status is the first header. Of one that stands in a table of the connection nothing can be told. */
function statusIn(block: Buffer): number | undefined {
  let at = 0;
  // The size of the table may be said before.
  while (((block[at] ?? 0) & 0xe0) === 0x20) at += ((block[at] ?? 0) & 0x1f) === 0x1f ? 2 : 1;
  const first = block[at] ?? 0;
  if (first >= 0x88 && first <= 0x8e) return staticStatuses[first - 0x88];
  if (![0x48, 0x08, 0x18].includes(first)) return undefined;
  const length = (block[at + 1] ?? 0) & 0x7f;
  const isPacked = ((block[at + 1] ?? 0) & 0x80) !== 0;
  const value = block.subarray(at + 2, at + 2 + length);
  return Number(isPacked ? digitsIn(value) : value.toString('latin1'));
}

/** Digits have codes of five bits (0, 1 and 2) or six, of which the first are taken by those of five. */
function digitsIn(packed: Buffer): string {
  const bits = [...packed].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  let digits = '';
  for (let at = 0; digits.length < 3;) {
    const five = Number.parseInt(bits.slice(at, at + 5), 2);
    const short = five <= 2;
    digits += short ? five : Number.parseInt(bits.slice(at, at + 6), 2) - 0x19 + 3;
    at += short ? 5 : 6;
  }
  return digits;
}
