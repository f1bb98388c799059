/** Just enough of DER (X.690) to write certificates and requests for them. Values are complete encodings. */

export function tlv(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content]);
}

function lengthOf(length: number): readonly number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [0x80 | bytes.length, ...bytes];
}

export const sequence = (...items: readonly Uint8Array[]): Buffer => tlv(0x30, ...items);
/** The members of a SET OF are sorted by their encodings. */
export const setOf = (...items: readonly Uint8Array[]): Buffer =>
  tlv(0x31, ...[...items].sort((a, b) => Buffer.compare(a, b)));
export const octetString = (content: Uint8Array): Buffer => tlv(0x04, content);
export const trueValue = Buffer.from([0x01, 0x01, 0xff]);
/** `[number]` around an encoding of its own. */
export const explicit = (number: number, ...items: readonly Uint8Array[]): Buffer => tlv(0xa0 | number, ...items);
/** `[number]` in place of the tag of a primitive. */
export const implicit = (number: number, content: Uint8Array): Buffer => tlv(0x80 | number, content);

/** A number that is not negative, big-endian. */
export function integer(bytes: Uint8Array | number): Buffer {
  let content: Uint8Array = typeof bytes === 'number' ? Buffer.from([bytes]) : bytes;
  let from = 0;
  while (from < content.length - 1 && content[from] === 0) from++;
  content = content.subarray(from);
  const first = content[0] ?? 0;
  return tlv(0x02, first >= 0x80 || content.length === 0 ? Buffer.from([0]) : Buffer.alloc(0), content);
}

export function bitString(content: Uint8Array, unusedBits = 0): Buffer {
  return tlv(0x03, Buffer.from([unusedBits]), content);
}

export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return tlv(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): readonly number[] {
  const bytes = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift((rest & 0x7f) | 0x80);
  return bytes;
}

/** PrintableString where its few characters suffice, otherwise UTF8String. */
export function text(value: string): Buffer {
  return tlv(/^[A-Za-z0-9 '()+,\-./:=?]*$/.test(value) ? 0x13 : 0x0c, Buffer.from(value, 'utf8'));
}

/** UTCTime until 2049, GeneralizedTime after it, as RFC 5280 has it. */
export function time(milliseconds: number): Buffer {
  const digits = new Date(milliseconds).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  const isLate = digits >= '2050' || digits < '1950';
  return isLate ? tlv(0x18, Buffer.from(digits)) : tlv(0x17, Buffer.from(digits.slice(2)));
}

export function pem(label: string, der: Uint8Array): string {
  const lines = Buffer.from(der)
    .toString('base64')
    .replaceAll(/(.{64})(?=.)/g, '$1\n');
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}
