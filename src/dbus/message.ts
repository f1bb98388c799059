import { Reader } from './reader.ts';
import { parseSingleType } from './signature.ts';
import { MalformedMessage, maxSpecifiedBytes, type DBusValue, type Variant } from './values.ts';
import { Writer } from './writer.ts';

type MessageType = 'call' | 'return' | 'error' | 'signal';

/** The header of a message; the names are those of the specification. */
export interface MessageHeader {
  readonly type: MessageType;
  readonly noReplyExpected?: boolean;
  /** Refuses that a program is started in order to answer. */
  readonly noAutoStart?: boolean;
  readonly path?: string | undefined;
  readonly interface?: string | undefined;
  readonly member?: string | undefined;
  readonly errorName?: string | undefined;
  readonly replySerial?: number | undefined;
  readonly destination?: string | undefined;
  readonly sender?: string | undefined;
  /** Descriptors that came along. */
  readonly unixFds?: number | undefined;
}

export interface Message extends MessageHeader {
  readonly serial: number;
  readonly signature: string;
  /** Read when it is asked for: most signals are for others. Throws MalformedMessage. */
  body(): readonly DBusValue[];
}

/** Types of messages by their number. */
const types: readonly (MessageType | undefined)[] = [undefined, 'call', 'return', 'error', 'signal'];
const noReplyExpected = 1;
const noAutoStart = 2;
const fixedBytes = 16;

/** The fields of a header by their number. */
const fields = [
  [1, 'path', 'o'],
  [2, 'interface', 's'],
  [3, 'member', 's'],
  [4, 'errorName', 's'],
  [5, 'replySerial', 'u'],
  [6, 'destination', 's'],
  [7, 'sender', 's'],
  [8, 'signature', 'g'],
  [9, 'unixFds', 'u'],
] as const;
type HeaderFields = Omit<MessageHeader, 'type'> & { readonly signature?: string };
const fieldArray = parseSingleType('a(yv)');

const needed: Readonly<Record<MessageType, readonly (keyof HeaderFields)[]>> = {
  call: ['path', 'member'],
  return: ['replySerial'],
  error: ['errorName', 'replySerial'],
  signal: ['path', 'interface', 'member'],
};

export function encodeMessage(
  header: MessageHeader,
  serial: number,
  signature = '',
  body: readonly DBusValue[] = [],
): Buffer {
  const content = new Writer();
  content.values(signature, body);
  const contentBytes = content.bytes();
  const given: Readonly<Record<string, DBusValue | undefined>> = { ...header, signature: signature || undefined };
  const head = new Writer();
  const flags = (header.noReplyExpected ? noReplyExpected : 0) | (header.noAutoStart ? noAutoStart : 0);
  head.values('yyyyuua(yv)', [
    'l'.charCodeAt(0),
    types.indexOf(header.type),
    flags,
    1,
    contentBytes.length,
    serial,
    fields.flatMap(([number, name, type]): DBusValue[] => {
      const value = given[name];
      return value === undefined ? [] : [[number, { signature: type, value }]];
    }),
  ]);
  head.align(8);
  return Buffer.concat([head.bytes(), contentBytes]);
}

/** The length of the message that begins here; undefined while too few bytes are there. */
export function messageLength(bytes: Buffer): number | undefined {
  if (bytes.length < fixedBytes) return undefined;
  const little = isLittle(bytes);
  const reader = new Reader(bytes, little, 4);
  const bodyBytes = reader.uint32();
  const fieldBytes = new Reader(bytes, little, 12).uint32();
  const length = fixedBytes + Math.ceil(fieldBytes / 8) * 8 + bodyBytes;
  if (length > maxSpecifiedBytes) throw new MalformedMessage(`it has ${length} bytes`);
  return length;
}

/** The message that these bytes are from the first to the last; undefined for one of a type that is unknown today. */
export function decodeMessage(bytes: Buffer): Message | undefined {
  if (messageLength(bytes) !== bytes.length) throw new MalformedMessage('the message has a wrong length');
  const little = isLittle(bytes);
  const [, typeNumber = 0, flags = 0, version] = bytes;
  const type = types[typeNumber];
  if (typeNumber === 0) throw new MalformedMessage('the message has no type');
  if (version !== 1) throw new MalformedMessage(`version ${version} of the protocol is unknown`);
  const serial = new Reader(bytes, little, 8).uint32();
  if (serial === 0) throw new MalformedMessage('the serial is 0');
  if (type === undefined) return undefined;
  const reader = new Reader(bytes, little, 12);
  const header = readFields(reader.value(fieldArray, 0) as readonly (readonly [number, Variant])[]);
  for (const name of needed[type]) {
    if (header[name] === undefined) throw new MalformedMessage(`a ${type} without ${name}`);
  }
  reader.align(8);
  const content = bytes.subarray(reader.position);
  const { signature = '', ...rest } = header;
  return {
    ...rest,
    type,
    noReplyExpected: (flags & noReplyExpected) !== 0,
    noAutoStart: (flags & noAutoStart) !== 0,
    serial,
    signature,
    body() {
      const body = new Reader(content, little);
      const values = body.values(signature);
      if (!body.atEnd) throw new MalformedMessage('the body is longer than its signature says');
      return values;
    },
  };
}

/** Unknown fields are for later versions of the protocol. */
function readFields(found: readonly (readonly [number, Variant])[]): HeaderFields {
  const header: Record<string, DBusValue> = {};
  for (const [number, { signature, value }] of found) {
    const field = fields[number - 1];
    if (field === undefined) continue;
    const [, name, type] = field;
    if (signature !== type || name in header) throw new MalformedMessage(`the field ${name} is wrong`);
    header[name] = value;
  }
  return header;
}

function isLittle(bytes: Buffer): boolean {
  const order = String.fromCharCode(bytes[0] ?? 0);
  if (order !== 'l' && order !== 'B') throw new MalformedMessage('the order of bytes is unknown');
  return order === 'l';
}
