import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { Limiter } from './limiter.ts';
import { SingleFlight } from './single-flight.ts';

test('a failing piece of work gives its place back', async () => {
  const limiter = new Limiter(1);
  const failed = limiter.run(() => Promise.reject(new Error('x')));
  const next = limiter.run(async () => 'ran');
  await assert.rejects(failed, /x/);
  assert.equal(await next, 'ran');
  assert.equal(limiter.active, 0);
});

test('many may wait under one signal, and none of them is taken for a leak', async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error): void => void warnings.push(name);
  process.on('warning', note);
  const limiter = new Limiter(1);
  const { signal } = new AbortController();
  await Promise.all(Array.from({ length: 20 }, () => limiter.run(async () => {}, signal)));
  await new Promise((resolve) => void setImmediate(resolve));
  process.off('warning', note);
  assert.deepEqual(warnings, []);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('an abort takes waiting work out of the line', async () => {
  const clock = new FakeClock();
  const limiter = new Limiter(1);
  const controller = new AbortController();
  const ran: string[] = [];
  const first = limiter.run(() => clock.sleep(10), controller.signal);
  const second = limiter.run(async () => ran.push('second'), controller.signal);
  const third = limiter.run(async () => ran.push('third'));
  assert.equal(limiter.waiting, 2);
  const reason = new Error('stop');
  controller.abort(reason);
  await assert.rejects(second, reason);
  await clock.advance(10);
  await Promise.all([first, third]);
  assert.deepEqual(ran, ['third']);
  assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
  await assert.rejects(
    limiter.run(async () => ran.push('late'), controller.signal),
    reason,
  );
});

test('a limiter without room is refused', () => {
  assert.throws(() => new Limiter(0), RangeError);
  assert.throws(() => new Limiter(Number.NaN), RangeError);
});

test('single flight: one call for those who ask together, a new one afterwards', async () => {
  const flights = new SingleFlight<string, number>();
  let calls = 0;
  const work = async () => {
    await new Promise(setImmediate);
    return ++calls;
  };
  assert.deepEqual(
    await Promise.all([flights.run('a', work), flights.run('a', work), flights.run('b', work)]),
    [1, 1, 2],
  );
  assert.equal(flights.size, 0);
  assert.equal(await flights.run('a', work), 3);
});

test('single flight: a failure is shared and not kept', async () => {
  const flights = new SingleFlight<string, number>();
  const fail = () => {
    throw new Error('down');
  };
  const both = [flights.run('a', fail), flights.run('a', fail)];
  for (const one of both) await assert.rejects(one, /down/);
  assert.equal(await flights.run('a', async () => 1), 1);
});
