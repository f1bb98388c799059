import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { DelayQueue } from './delay-queue.ts';

function start() {
  const clock = new FakeClock();
  const queue = new DelayQueue<string>(clock);
  const controller = new AbortController();
  const seen: string[] = [];
  const done = (async () => {
    for (;;) seen.push(`${await queue.take(controller.signal)}@${clock.monotonic()}`);
  })().catch((error: unknown) => assert.equal(error, controller.signal.reason));
  return { clock, queue, seen, controller, done };
}

test('keys come when they are due, the earlier time of a key stays', async () => {
  const { clock, queue, seen } = start();
  queue.add('a', 100);
  queue.add('b', 50);
  queue.add('a', 20);
  queue.add('b', 70);
  await clock.advance(200);
  assert.deepEqual(seen, ['a@20', 'b@50']);
  assert.equal(queue.size, 0);
});

test('an empty queue has no timer, a full one has one', async () => {
  const { clock, queue, controller, done } = start();
  await clock.settle();
  assert.equal(clock.pending(), 0);
  for (let key = 0; key < 10; key++) queue.add(`k${key}`, 1_000 - key);
  await clock.settle();
  assert.equal(clock.pending(), 1);
  assert.equal(clock.nextDue(), 991);
  await clock.advance(1_000);
  assert.equal(clock.pending(), 0);
  queue.add('x', 10);
  await clock.settle();
  controller.abort();
  await done;
  assert.equal(clock.pending(), 0);
  assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
});

test('a cancelled key does not come, and the timer moves to the next', async () => {
  const { clock, queue, seen } = start();
  queue.add('a', 10);
  queue.add('b', 20);
  await clock.settle();
  assert.equal(queue.cancel('a'), true);
  assert.equal(queue.cancel('a'), false);
  await clock.settle();
  assert.equal(clock.nextDue(), 20);
  await clock.advance(30);
  assert.deepEqual(seen, ['b@20']);
  assert.equal(queue.has('b'), false);
});

test('times with fractions come due without timers of no time', async () => {
  const { clock, queue, seen } = start();
  await clock.advance(0.1);
  for (let key = 1; key <= 40; key++) queue.add(`k${key}`, key * 0.1 + 1e6 / 3);
  await clock.advance(400_000);
  assert.equal(seen.length, 40);
});

test('there is one taker', async () => {
  const { queue, controller } = start();
  await assert.rejects(queue.take(controller.signal), /one taker/);
});
