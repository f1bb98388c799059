import { TubeletError } from '../../base/errors.ts';

/** Just enough of DER (X.690) to read the fields of a certificate that Node does not expose. */
export interface DerValue {
  readonly tag: number;
  /** The content, without tag and length. */
  readonly content: Buffer;
}

export const derTags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectId: 0x06,
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  teletexString: 0x14,
  ia5String: 0x16,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;

const malformed = (what: string): TubeletError => new TubeletError('invalid', `malformed certificate: ${what}`);

/** The values that follow each other in some bytes; throws when they are not exactly filled. */
export function readValues(bytes: Buffer): readonly DerValue[] {
  const values: DerValue[] = [];
  for (let at = 0; at < bytes.length;) {
    const { value, end } = readOne(bytes, at);
    values.push(value);
    at = end;
  }
  return values;
}

/** The only value in some bytes, which must have that tag. */
export function readSingle(bytes: Buffer, tag: number): DerValue {
  const [value, ...more] = readValues(bytes);
  if (value === undefined || more.length > 0 || value.tag !== tag) throw malformed(`expected one value of tag ${tag}`);
  return value;
}

/** The values inside one that must have that tag. */
export function readInside(value: DerValue | undefined, tag: number): readonly DerValue[] {
  if (value?.tag !== tag) throw malformed(`expected tag ${tag}, not ${value?.tag ?? 'the end'}`);
  return readValues(value.content);
}

function readOne(bytes: Buffer, at: number): { readonly value: DerValue; readonly end: number } {
  const tag = bytes[at];
  const first = bytes[at + 1];
  // Tags of several bytes do not occur in certificates.
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) throw malformed('no tag and length');
  let length = first;
  let begin = at + 2;
  if (first >= 0x80) {
    const size = first & 0x7f;
    if (size === 0 || size > 4 || begin + size > bytes.length) throw malformed('a length out of bounds');
    length = bytes.readUIntBE(begin, size);
    begin += size;
  }
  const end = begin + length;
  if (end > bytes.length) throw malformed('a value longer than what holds it');
  return { value: { tag, content: bytes.subarray(begin, end) }, end };
}

/** An object identifier in its dotted form. */
export function readObjectId(value: DerValue | undefined): string {
  if (value?.tag !== derTags.objectId || value.content.length === 0) throw malformed('expected an object identifier');
  const arcs: number[] = [];
  let arc = 0;
  let isOpen = false;
  for (const byte of value.content) {
    arc = arc * 128 + (byte & 0x7f);
    if (!Number.isSafeInteger(arc)) throw malformed('an object identifier out of bounds');
    isOpen = byte >= 0x80;
    if (isOpen) continue;
    arcs.push(arc);
    arc = 0;
  }
  if (isOpen) throw malformed('an object identifier without an end');
  const [head = 0, ...rest] = arcs;
  const top = Math.min(Math.floor(head / 40), 2);
  return [top, head - top * 40, ...rest].join('.');
}

/** A text of any of the kinds that names are written in; undefined for other values. */
export function readText({ tag, content }: DerValue): string | undefined {
  switch (tag) {
    case derTags.utf8String:
      return utf8(content);
    case derTags.printableString:
    case derTags.ia5String:
    case derTags.numericString:
      if (content.some((byte) => byte >= 0x80)) throw malformed('a text with characters it cannot have');
      return content.toString('latin1');
    case derTags.teletexString:
      return content.toString('latin1');
    case derTags.bmpString:
      if (content.length % 2 !== 0) throw malformed('half a character');
      return Buffer.from(content).swap16().toString('utf16le');
    default:
      return undefined;
  }
}

function utf8(bytes: Buffer): string {
  try {
    // A mark at the beginning is a character like others: two names must not become one.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new TubeletError('invalid', 'malformed certificate: a text that is no UTF-8', { cause: error });
  }
}

/** A number that is not negative and not huge. */
export function readSmallInteger(value: DerValue | undefined): number {
  if (value?.tag !== derTags.integer) throw malformed('expected a number');
  const { content } = value;
  if (content.length === 0 || content.length > 4 || (content[0] ?? 0) >= 0x80)
    throw malformed('a number out of bounds');
  return content.readUIntBE(0, content.length);
}
