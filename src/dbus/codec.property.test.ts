import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MessageSplitter } from './message-splitter.ts';
import { decodeMessage, encodeMessage, messageLength } from './message.ts';
import { parseSignature } from './signature.ts';
import { isObjectPath, MalformedMessage, type DBusValue } from './values.ts';
import { turnedMessage } from '../testing/turned-message.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((value) => !value.includes('\0'));
const objectPath = fc
  .array(fc.stringMatching(/^\w{1,5}$/), { maxLength: 4 })
  .map((parts) => `/${parts.join('/')}`)
  .filter(isObjectPath);

interface Sample {
  readonly signature: string;
  readonly value: DBusValue;
}

const basics: Readonly<Record<string, fc.Arbitrary<DBusValue>>> = {
  y: fc.integer({ min: 0, max: 255 }),
  b: fc.boolean(),
  n: fc.integer({ min: -0x8000, max: 0x7fff }),
  q: fc.integer({ min: 0, max: 0xffff }),
  i: fc.integer({ min: -0x8000_0000, max: 0x7fff_ffff }),
  u: fc.integer({ min: 0, max: 0xffff_ffff }),
  h: fc.integer({ min: 0, max: 0xffff_ffff }),
  x: fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }),
  t: fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
  d: fc.double(),
  s: text,
  o: objectPath,
  g: fc.constantFrom('', 'a{sv}', '(ia(ss))', 'aaah'),
};
const basic: fc.Arbitrary<Sample> = fc
  .constantFrom(...Object.keys(basics))
  .chain((signature) => (basics[signature] ?? fc.constant('')).map((value) => ({ signature, value })));

/** Values of every type, with the signature that each is written by. */
const { sample } = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    basic,
    fc.uint8Array({ maxLength: 20 }).map((value) => ({ signature: 'ay', value })),
    tie('sample').map((inner) => ({ signature: 'v', value: { ...inner } })),
    fc.array(tie('sample'), { minLength: 1, maxLength: 4 }).map((inner) => ({
      signature: `(${inner.map(({ signature }) => signature).join('')})`,
      value: inner.map(({ value }) => value),
    })),
    fc
      .tuple(tie('sample'), fc.nat(3))
      .filter(([{ signature }]) => signature !== 'y')
      .map(([{ signature, value }, count]) => ({
        signature: `a${signature}`,
        value: Array.from({ length: count }, () => value),
      })),
    fc.tuple(basic, tie('sample'), fc.nat(3)).map(([key, { signature, value }, count]) => ({
      signature: `a{${key.signature}${signature}}`,
      value: Array.from({ length: count }, () => [key.value, value]),
    })),
  ),
}));
const samples = fc.array(sample, { maxLength: 5 }).filter((all) => signatureOf(all).length <= 255);

const signatureOf = (all: readonly Sample[]): string => all.map(({ signature }) => signature).join('');
const call = { type: 'call', path: '/a', member: 'Ask', destination: 'a.b' } as const;

test('what is written is read back, in both orders of bytes, and is written again with the same bytes', () => {
  fc.assert(
    fc.property(samples, fc.integer({ min: 1, max: 0xffff_ffff }), (all, serial) => {
      const signature = signatureOf(all);
      const values = all.map(({ value }) => value);
      const bytes = encodeMessage(call, serial, signature, values);
      for (const form of [bytes, turnedMessage(bytes)]) {
        const message = decodeMessage(form)!;
        assert.deepEqual([message.serial, message.signature, message.body()], [serial, signature, values]);
        assert.deepEqual([message.path, message.member, message.destination], ['/a', 'Ask', 'a.b']);
        assert.ok(encodeMessage(message, serial, signature, message.body()).equals(bytes));
      }
    }),
  );
});

test('a stream may be cut anywhere', () => {
  fc.assert(
    fc.property(
      fc.array(samples, { maxLength: 4 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 40 })),
      (all, cuts) => {
        const stream = Buffer.concat(
          all.map((each, at) =>
            encodeMessage(
              call,
              at + 1,
              signatureOf(each),
              each.map(({ value }) => value),
            ),
          ),
        );
        const splitter = new MessageSplitter();
        const serials: number[] = [];
        for (let at = 0; at < stream.length;) {
          const { value: length = 1 } = cuts.next();
          for (const { serial } of splitter.push(stream.subarray(at, at + length))) serials.push(serial);
          at += length;
        }
        assert.deepEqual(
          serials,
          all.map((_, at) => at + 1),
        );
      },
    ),
  );
});

/** Nothing but the error of the codec, and that soon. */
function survives(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    assert.ok(error instanceof MalformedMessage, String(error));
  }
}

test('any bytes are a message or malformed', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      survives(() => decodeMessage(Buffer.from(bytes))?.body());
      survives(() => [...new MessageSplitter().push(bytes)].map((message) => message.body()));
    }),
  );
});

test('a message with a few wrong bytes is a message or malformed', () => {
  const flips = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(samples, flips, fc.boolean(), (all, wrong, turned) => {
      const right = encodeMessage(
        call,
        7,
        signatureOf(all),
        all.map(({ value }) => value),
      );
      const bytes = turned ? turnedMessage(right) : right;
      for (const [at, byte] of wrong) bytes[at % bytes.length] = byte;
      survives(() => decodeMessage(bytes)?.body());
      survives(() => messageLength(bytes));
    }),
    { numRuns: 1_000 },
  );
});

test('any text is a signature or malformed', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...'ybnqiuxtdsoghva(){}z'.split('')), maxLength: 300 }),
      (signature) => {
        survives(() => parseSignature(signature));
      },
    ),
  );
});
