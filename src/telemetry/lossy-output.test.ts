import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { LossyOutput } from './lossy-output.ts';

/** A pipe with room for so many bytes until it is read. */
class Pipe {
  text = '';
  room: number;
  failure: string | undefined;
  writes = 0;

  constructor(room: number) {
    this.room = room;
  }

  readonly tryWrite = (bytes: Uint8Array): number => {
    this.writes++;
    if (this.failure !== undefined) throw Object.assign(new Error(this.failure), { code: this.failure });
    const taken = Math.min(bytes.length, this.room);
    this.room -= taken;
    this.text += Buffer.from(bytes.subarray(0, taken)).toString('latin1');
    return taken;
  };
}

function start(room: number, maxBytes = 100) {
  const clock = new FakeClock();
  const pipe = new Pipe(room);
  const pauses: number[] = [];
  const output = new LossyOutput({
    clock,
    tryWrite: pipe.tryWrite,
    pause: (ms) => void pauses.push(ms),
    lossLine: (lines) => `lost ${lines}\n`,
    maxBytes,
  });
  return { clock, pipe, output, pauses };
}

const line = (digit: number): string => `${String(digit).repeat(19)}\n`;

test('a reader that reads gets everything at once, and nothing is left behind', () => {
  const { clock, pipe, output } = start(1_000);
  const listeners = process.listenerCount('exit');
  for (const digit of [1, 2, 3]) assert.equal(output.write(line(digit)), undefined);
  assert.equal(pipe.text, line(1) + line(2) + line(3));
  assert.equal(clock.pending(), 0);
  assert.equal(process.listenerCount('exit'), listeners);
});

test('a reader that pauses gets what fits the limit, in order, then the count of what is missing', async () => {
  const { clock, pipe, output } = start(30);
  const listeners = process.listenerCount('exit');
  for (let digit = 1; digit <= 9; digit++) assert.equal(output.write(line(digit)), undefined);
  assert.equal(pipe.text, (line(1) + line(2)).slice(0, 30));
  await clock.advance(60_000);
  assert.ok(pipe.writes < 1_000, `${pipe.writes} tries in a minute`);
  assert.equal(process.listenerCount('exit'), listeners + 1);
  pipe.room = 1_000;
  await clock.advance(200);
  assert.equal(pipe.text, `${[1, 2, 3, 4, 5, 6].map(line).join('')}lost 3\n`);
  output.write(line(0));
  assert.ok(pipe.text.endsWith(`lost 3\n${line(0)}`));
  assert.equal(clock.pending(), 0);
  assert.equal(process.listenerCount('exit'), listeners);
});

test('a line is never cut by one that comes after lines that were dropped', async () => {
  const { clock, pipe, output } = start(0, 50);
  for (const digit of [1, 2, 3, 4]) output.write(line(digit));
  // Too small to be dropped for its size: it would stand where the dropped ones are missing.
  output.write('x\n');
  pipe.room = 45;
  await clock.advance(200);
  output.write(line(5));
  pipe.room = 1_000;
  await clock.advance(200);
  assert.equal(pipe.text, `${line(1)}${line(2)}lost 3\n${line(5)}`);
});

test('at the exit what is kept is written, and a reader that hangs delays it for a moment only', () => {
  const { clock, output, pauses } = start(0);
  output.write(line(1));
  output.finish();
  assert.equal(pauses.length > 0 && pauses.reduce((sum, ms) => sum + ms, 0) <= 1_000, true);
  assert.equal(clock.pending(), 0);

  const slow = start(0);
  slow.output.write(line(1));
  slow.pipe.room = 1_000;
  slow.output.finish();
  assert.equal(slow.pipe.text, line(1));
});

test('a reader that has closed is a problem until one reads again', () => {
  const { clock, pipe, output } = start(1_000);
  pipe.failure = 'EPIPE';
  assert.equal(output.write(line(1)), 'standard error does not take text: EPIPE');
  assert.equal(clock.pending(), 0);
  pipe.failure = undefined;
  assert.equal(output.write(line(2)), undefined);
  assert.equal(pipe.text, line(2));
});
