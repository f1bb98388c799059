import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { BatchWriter } from './batch-writer.ts';
import { createLog, type LogOptions } from './create-log.ts';
import { wallClockOf } from './wall-clock.ts';

function start(options: Partial<LogOptions> = {}) {
  const writes: string[] = [];
  const clock = new FakeClock({ wall: new Date(2025, 0, 2, 3, 4, 5).getTime() });
  const log = createLog({ format: 'text', clock, pid: 7, write: (text) => writes.push(text), ...options });
  return { log, writes, clock };
}

test('lines of a turn are one write, with the position of their caller', async () => {
  const { log, writes } = start();
  log.info('one');
  log.with({ pod: { name: 'a', namespace: 'b' } }).warn('two', { n: 1 });
  assert.equal(writes.length, 0);
  await new Promise(setImmediate);
  assert.equal(writes.length, 1);
  const [one = '', two = ''] = writes.join('').split('\n');
  assert.match(one, /^I0102 03:04:05\.000000       7 create-log\.test\.ts:\d+\] "one"$/);
  assert.match(two, /^W0102 03:04:05\.000000       7 create-log\.test\.ts:\d+\] "two" pod="b\/a" n=1$/);
  const line = (text: string) => Number(/:(\d+)\]/.exec(text)?.[1]);
  assert.equal(line(two), line(one) + 1);
});

test('an error is written at once, with what waited before it', () => {
  const { log, writes } = start();
  log.info('one');
  log.error(new Error('outer', { cause: new Error('inner') }), 'two');
  assert.equal(writes.length, 1);
  assert.match(writes[0]!, /"one"\nE.*\] "two" err="outer: inner"\n$/);
  log.error(undefined, 'three');
  assert.match(writes[1]!, /\] "three"\n$/);
});

test('debug lines follow the verbosity, also of loggers made before it was set', () => {
  const { log, writes } = start({ verbosity: 2 });
  const childLog = log.with({});
  childLog.debug(3, 'hidden');
  childLog.debug(2, 'shown');
  log.setVerbosity(4);
  childLog.debug(4, 'now shown');
  log.flush();
  assert.deepEqual(writes.join('').match(/"[^"]*"/g), ['"shown"', '"now shown"']);
  assert.equal(log.verbosity(), 4);
});

test('vmodule raises the verbosity of files that match', () => {
  const here = start({ vmodule: 'create-*=5' });
  here.log.debug(5, 'shown');
  here.log.debug(6, 'hidden');
  here.log.flush();
  assert.match(here.writes.join(''), /^[^\n]*"shown"\n$/);

  const there = start({ vmodule: [{ filePattern: 'other', verbosity: 9 }], verbosity: 1 });
  there.log.debug(2, 'hidden');
  there.log.debug(1, 'shown');
  there.log.flush();
  assert.match(there.writes.join(''), /^[^\n]*"shown"\n$/);
});

test('a line that the build did not place says so', () => {
  const { log, writes } = start({ vmodule: 'create-*=5' });
  const call = (method: 'info' | 'debug', ...args: readonly unknown[]): void =>
    Reflect.apply(Reflect.get(log, method) as () => void, log, args);
  call('info', 'one');
  call('debug', 1, 'hidden');
  log.flush();
  assert.match(writes.join(''), /^I\S+ \S+ +7 \?\?\?:1\] "one"\n$/);
});

test('JSON lines', () => {
  const { log, writes, clock } = start({ format: 'json' });
  log.error(new Error('x'), 'failed', { pod: 'p' });
  const { caller, ...rest } = JSON.parse(writes[0]!);
  assert.match(caller, /^create-log\.test\.ts:\d+$/);
  assert.deepEqual(rest, { ts: clock.now(), msg: 'failed', pod: 'p', err: 'x' });
});

test('the exit listener is there only while text waits, and much text does not wait', async () => {
  const before = process.listenerCount('exit');
  const writes: string[] = [];
  const writer = new BatchWriter((text) => writes.push(text));
  writer.add('a');
  writer.add('b');
  assert.equal(process.listenerCount('exit'), before + 1);
  await new Promise(setImmediate);
  assert.deepEqual(writes, ['ab']);
  assert.equal(process.listenerCount('exit'), before);
  writer.add('x'.repeat(100_000));
  assert.equal(writes.length, 2);
  writer.flush();
  assert.equal(writes.length, 2);
});

test('what waits when the process exits is written', () => {
  const others = new Set(process.listeners('exit'));
  const writes: string[] = [];
  new BatchWriter((text) => writes.push(text)).add('last words');
  for (const listener of process.listeners('exit')) if (!others.has(listener)) listener(0);
  assert.deepEqual(writes, ['last words']);
  assert.deepEqual(new Set(process.listeners('exit')), others);
});

test('wall time gets its fraction from the monotonic clock and follows a wall that is set', () => {
  let wall = 1_000;
  let monotonic = 50.25;
  const now = wallClockOf({ now: () => wall, monotonic: () => monotonic });
  monotonic += 0.5;
  assert.equal(now(), 1_000.5);
  wall += 1;
  monotonic += 0.75;
  assert.equal(now(), 1_001.25);
  wall -= 500;
  assert.equal(now(), 501);
  monotonic += 0.125;
  assert.equal(now(), 501.125);
});

test('lines that are lost are known until one arrives again', () => {
  let broken: string | undefined = 'EPIPE';
  const { log } = start({ write: () => broken });
  assert.equal(log.problem(), undefined);
  log.info('lost');
  log.flush();
  assert.equal(log.problem(), 'EPIPE');
  broken = undefined;
  log.with({ pod: 'p' }).info('written');
  log.flush();
  assert.equal(log.problem(), undefined);
});
