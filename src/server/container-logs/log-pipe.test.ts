import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { maxJsonLineBytes } from './json-lines.ts';
import { LogPipe, type LogPipeOptions } from './log-pipe.ts';

const at = (second: number): string => `2026-01-01T00:00:0${second}.000000000Z`;
const all = { timestamps: false };

function shown(text: string, options: LogPipeOptions = all): string {
  const pipe = new LogPipe(options);
  return Buffer.concat([...pipe.feed(Buffer.from(text)), ...pipe.endOfFile()]).toString();
}

describe('a log', () => {
  test('is shown without what the runtime wrote before its lines, partial ones joined', () => {
    const text = `${at(0)} stdout F one\n${at(1)} stderr P tw\n${at(1)} stderr F o\n${at(2)} stdout F \n`;
    assert.equal(shown(text), 'one\ntwo\n\n');
    assert.equal(shown(text, { timestamps: true }), `${at(0)} one\n${at(1)} two\n${at(2)} \n`);
  });

  test('of one stream is not disturbed by parts of lines of the other', () => {
    const text = `${at(0)} stderr P half\n${at(1)} stdout F whole\n`;
    assert.equal(shown(text, { timestamps: true, stream: 'stdout' }), `${at(1)} whole\n`);
  });

  test('is cut exactly, times counted', () => {
    const text = `${at(0)} stdout F one\n${at(1)} stdout F two\n`;
    assert.equal(shown(text, { timestamps: false, limitBytes: 5 }), 'one\nt');
    assert.equal(shown(text, { timestamps: true, limitBytes: 33 }), `${at(0)} on`.slice(0, 33));
  });

  test('whose last line has no end is shown with it', () => {
    assert.equal(shown(`${at(0)} stdout F one\n${at(1)} stdout F tw`), 'one\ntw');
  });

  test('of Docker is recognised by its first line', () => {
    const line = (log: string, stream: string): string => `${JSON.stringify({ log, stream, time: at(1) })}\n`;
    assert.equal(shown(line('ä\n', 'stdout') + line('b\n', 'stderr')), 'ä\nb\n');
    assert.equal(shown(line('a\n', 'stdout') + line('b\n', 'stdin') + '{"log":"c","stream":"stdout"}'), 'a\nc');
  });

  test('of another form is refused, with its first line', () => {
    const refused = { kind: 'invalid', message: 'failed to get parse function: unsupported log format: "hello\\n"' };
    assert.throws(() => shown('hello\nworld\n'), refused);
    assert.throws(
      () => shown('x'.repeat(10_000)),
      (error: Error) => error.message.length < 400,
    );
  });
});

describe('a line without end', () => {
  test('is passed on in pieces and not kept', () => {
    const pipe = new LogPipe(all);
    const chunk = Buffer.alloc(64 * 1024, 0x61);
    pipe.feed(Buffer.from(`${at(0)} stdout F `));
    for (let round = 0; round < 100; round++) {
      const given = pipe.feed(chunk).reduce((sum, { length }) => sum + length, 0);
      assert.equal(given, chunk.length);
    }
    assert.equal(Buffer.concat([...pipe.feed(Buffer.from('!\n'))]).toString(), '!\n');
  });

  test('and without a header is left out, the next one not', () => {
    const pipe = new LogPipe(all);
    pipe.feed(Buffer.from(`${at(0)} stdout F one\n`));
    for (let round = 0; round < 10; round++) assert.deepEqual(pipe.feed(Buffer.alloc(1_000, 0x61)), []);
    assert.equal(Buffer.concat([...pipe.feed(Buffer.from(`\n${at(1)} stdout F two\n`))]).toString(), 'two\n');
    assert.equal(pipe.badLines, 1);
  });

  test('of Docker is left out when it is too long', () => {
    const pipe = new LogPipe(all);
    pipe.feed(Buffer.from('{"log":"'));
    for (let given = 0; given <= maxJsonLineBytes; given += 50_000)
      assert.deepEqual(pipe.feed(Buffer.alloc(50_000, 0x61)), []);
    const next = `"}\n{"log":"b","stream":"stdout","time":"${at(1)}"}\n`;
    assert.equal(Buffer.concat([...pipe.feed(Buffer.from(next))]).toString(), 'b');
    assert.equal(pipe.badLines, 1);
  });

  test('that grows byte by byte is read as one', () => {
    const pipe = new LogPipe(all);
    const text = `${JSON.stringify({ log: 'x'.repeat(500), stream: 'stdout', time: at(0) })}\n`;
    const out = text.split('').flatMap((character) => [...pipe.feed(Buffer.from(character))]);
    assert.equal(Buffer.concat(out).toString(), 'x'.repeat(500));
  });
});
