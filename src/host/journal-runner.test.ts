import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { journalRunner } from './journal-runner.ts';

/** Any program will do: this one runs what it is given. */
const runner = journalRunner({ environment: { PATH: process.env['PATH'] }, program: process.execPath });
const never = new AbortController().signal;

async function printed(script: string): Promise<string> {
  let text = '';
  const end = await runner.run(['-e', script], async (chunk) => void (text += Buffer.from(chunk).toString()), never);
  assert.deepEqual(end, { kind: 'ended' });
  return text;
}

describe('a program', () => {
  test('has its output passed on, errors too, whatever its exit code', async () => {
    assert.equal(await printed('console.log("out"); process.exitCode = 3'), 'out\n');
    assert.equal(await printed('console.error("err")'), 'err\n');
  });

  test('sees UTC and gets its arguments as they are', async () => {
    assert.equal(await printed('process.stdout.write(process.env.TZ + new Date(0).getHours())'), 'UTC0');
    let text = '';
    const args = ['-e', 'process.stdout.write(process.argv[1])', '--', '$(x) "y" ;z'];
    await runner.run(args, async (chunk) => void (text += Buffer.from(chunk).toString()), never);
    assert.equal(text, '$(x) "y" ;z');
  });

  test('that is missing is reported', async () => {
    const end = await journalRunner({ environment: {}, program: '/nowhere/journalctl' }).run([], async () => {}, never);
    assert.equal(end.kind, 'notStarted');
  });

  test('is read no faster than its output is taken, and is killed when that fails', async () => {
    let chunks = 0;
    const endless = 'const say = () => process.stdout.write("x".repeat(65536), say); say()';
    const output = async (): Promise<void> => {
      if (++chunks === 5) throw new Error('enough');
    };
    await assert.rejects(runner.run(['-e', endless], output, never), { message: 'enough' });
    assert.equal(chunks, 5);
  });

  test('that has started another one, which holds its outputs open, is not waited for after an abort', async () => {
    const stop = new AbortController();
    const start = `require('node:child_process').spawn('sleep', ['20'], { stdio: 'inherit' }).unref(); console.log('begun')`;
    const output = async (): Promise<void> => stop.abort(new Error('given up'));
    const began = performance.now();
    await assert.rejects(runner.run(['-e', start], output, stop.signal), { message: 'given up' });
    assert.ok(performance.now() - began < 15_000, 'it waited for the other one');
  });

  test('is killed when the call is given up', async () => {
    const stop = new AbortController();
    const wait = 'console.log("begun"); setInterval(() => {}, 1000)';
    const output = async (): Promise<void> => stop.abort(new Error('given up'));
    await assert.rejects(runner.run(['-e', wait], output, stop.signal), { message: 'given up' });
    await assert.rejects(runner.run(['-e', wait], output, stop.signal), { message: 'given up' });
  });
});
