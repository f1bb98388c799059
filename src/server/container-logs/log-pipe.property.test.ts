import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LogPipe, type LogPipeOptions } from './log-pipe.ts';
import { formatRest, formatSecond, isBefore, parseLogTime } from './log-time.ts';

interface Line {
  readonly time: string;
  readonly stream: 'stdout' | 'stderr';
  readonly partial: boolean;
  readonly content: Buffer;
}

/** The whole file at once, line by line, with nothing clever. */
function naive(file: Buffer, options: LogPipeOptions, read: (line: Buffer) => Line | undefined): Buffer {
  const out: Buffer[] = [];
  let fresh = true;
  let lines = 0;
  for (let at = 0; at < file.length;) {
    const found = file.indexOf(10, at);
    const end = found < 0 ? file.length : found + 1;
    const line = read(file.subarray(at, end));
    at = end;
    if (line === undefined) continue;
    if (options.maxLines !== undefined && ++lines > options.maxLines) break;
    const time = parseLogTime(line.time);
    assert.ok(time);
    if (options.since !== undefined && isBefore(time, options.since)) continue;
    if (options.stream !== undefined && options.stream !== line.stream) continue;
    if (options.timestamps && fresh) out.push(Buffer.from(`${formatSecond(time)}${formatRest(time)} `));
    out.push(line.content);
    fresh = line.content.length === 0 || line.content.at(-1) === 10;
  }
  return Buffer.concat(out).subarray(0, options.limitBytes);
}

function readCri(line: Buffer): Line | undefined {
  const match = /^(\S+) (stdout|stderr) ([^ \n]*) ([^]*)$/.exec(line.toString('latin1'));
  const [, time = '', stream, tags = '', text = ''] = match ?? [];
  if (parseLogTime(time) === undefined || (stream !== 'stdout' && stream !== 'stderr')) return undefined;
  const partial = tags.split(':')[0] === 'P';
  return { time, stream, partial, content: Buffer.from(partial ? text.replace(/\n$/, '') : text, 'latin1') };
}

function readJson(line: Buffer): Line | undefined {
  try {
    const { log, stream, time } = JSON.parse(line.toString()) as {
      log: string;
      stream: 'stdout' | 'stderr';
      time: string;
    };
    return { time, stream, partial: false, content: Buffer.from(log) };
  } catch {
    return undefined;
  }
}

function piped(chunks: readonly Buffer[], options: LogPipeOptions): Buffer {
  const pipe = new LogPipe(options);
  // Each chunk is overwritten after it was given, as a buffer that is used again.
  const out = chunks.flatMap((chunk) => {
    const lent = Buffer.from(chunk);
    const pieces = pipe.feed(lent);
    lent.fill(0x21);
    return [...pieces];
  });
  return Buffer.concat([...out, ...pipe.endOfFile()]);
}

function cut(file: Buffer, sizes: readonly number[]): readonly Buffer[] {
  const chunks: Buffer[] = [];
  let at = 0;
  for (let index = 0; at < file.length; index++) {
    const size = sizes.length === 0 ? file.length : (sizes[index % sizes.length] ?? 1);
    chunks.push(file.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

const times = fc.constantFrom(
  '2026-01-01T00:00:00.000000001Z',
  '2026-01-01T00:00:00Z',
  '2026-01-01T02:00:00.5+02:00',
  '2025-12-31T23:59:59.999999999Z',
);
const streams = fc.constantFrom('stdout' as const, 'stderr' as const);
const content = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 10)));
const optional = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(values, { nil: undefined });

const optionsOf = fc
  .record({
    since: optional(times.map(parseLogTime)),
    stream: optional(streams),
    maxLines: optional(fc.integer({ min: 0, max: 12 })),
    limitBytes: optional(fc.integer({ min: 1, max: 200 })),
    timestamps: fc.boolean(),
  })
  .map(
    (wanted) =>
      Object.fromEntries(
        Object.entries(wanted).filter(([, value]) => value !== undefined),
      ) as unknown as LogPipeOptions,
  );
const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 6 });

const criLine = fc
  .tuple(times, streams, fc.constantFrom('F', 'P', 'P:x', 'PX', 'F:P', ''), content)
  .map(([time, stream, tags, text]) => Buffer.concat([Buffer.from(`${time} ${stream} ${tags} `), text]));
const garbage = fc.oneof(
  content,
  fc
    .constantFrom('2026-01-01T00:00:00Z stdin F x', '2026-01-01T00:00:00Z stdout', 'x'.repeat(300))
    .map((line) => Buffer.from(line)),
);
const fileOf = (first: fc.Arbitrary<Buffer>, others: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> =>
  fc.tuple(first, fc.array(others, { maxLength: 12 }), fc.boolean()).map(([one, more, complete]) => {
    const text = Buffer.concat([one, ...more].flatMap((line) => [line, Buffer.from('\n')]));
    return complete || more.length === 0 ? text : text.subarray(0, -1);
  });

test('lines of runtimes are passed on the same in whatever chunks they come', () => {
  const file = fileOf(criLine, fc.oneof({ weight: 4, arbitrary: criLine }, { weight: 1, arbitrary: garbage }));
  fc.assert(
    fc.property(file, sizes, optionsOf, (bytes, chunkSizes, options) => {
      assert.equal(
        piped(cut(bytes, chunkSizes), options).toString('latin1'),
        naive(bytes, options, readCri).toString('latin1'),
      );
    }),
    { numRuns: 250 },
  );
});

test('and so are those of Docker', () => {
  const line = fc
    .tuple(times, streams, fc.string({ unit: 'binary', maxLength: 30 }), fc.boolean())
    .map(([time, stream, text, whole]) =>
      Buffer.from(JSON.stringify({ log: whole ? `${text}\n` : text, stream, time })),
    );
  const broken = fc.constantFrom('{"log":', '', 'text', '[1]').map((text) => Buffer.from(text));
  const file = fileOf(line, fc.oneof({ weight: 5, arbitrary: line }, { weight: 1, arbitrary: broken }));
  fc.assert(
    fc.property(file, sizes, optionsOf, (bytes, chunkSizes, options) => {
      const model = naive(bytes, options, (text) => {
        const read = readJson(text);
        return read?.stream === undefined ? undefined : read;
      });
      assert.equal(piped(cut(bytes, chunkSizes), options).toString(), model.toString());
    }),
    { numRuns: 150 },
  );
});
