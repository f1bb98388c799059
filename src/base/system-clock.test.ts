import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { systemClock } from './system-clock.ts';
import { systemRandom } from './system-random.ts';

test('a sleep is not shorter than asked', async () => {
  const clock = systemClock();
  const began = clock.monotonic();
  await clock.sleep(3);
  assert.ok(clock.monotonic() - began >= 3);
});

test('wall time is the time of the machine', () => {
  const clock = systemClock();
  assert.ok(Math.abs(clock.now() - Date.now()) < 1_000);
});

test('sleep leaves no listener on its signal, whichever way it ends', async () => {
  const clock = systemClock();
  const controller = new AbortController();
  await clock.sleep(1, controller.signal);
  assert.equal(getEventListeners(controller.signal, 'abort').length, 0);

  const reason = new Error('enough');
  const long = clock.sleep(60_000, controller.signal);
  assert.equal(getEventListeners(controller.signal, 'abort').length, 1);
  controller.abort(reason);
  await assert.rejects(long, reason);
  await assert.rejects(clock.sleep(60_000, controller.signal), reason);
  assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
});

test('a cancelled timer does not run, and cancelling late is harmless', async () => {
  const clock = systemClock();
  let ran = 0;
  const cancel = clock.after(0, () => ran++);
  cancel();
  const cancelLate = clock.after(0, () => (ran += 10));
  await clock.sleep(2);
  cancelLate();
  cancel();
  assert.equal(ran, 10);
});

test('timers beyond what setTimeout holds are armed piece by piece', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  let monotonic = 0;
  context.mock.method(performance, 'now', () => monotonic);
  const longest = 2 ** 31 - 1;
  let ran = 0;
  systemClock().after(2 * longest + 500, () => ran++);
  for (const step of [longest, longest, 499]) {
    monotonic += step;
    context.mock.timers.tick(step);
    assert.equal(ran, 0);
  }
  monotonic += 1;
  context.mock.timers.tick(1);
  assert.equal(ran, 1);
});

test('a timer that Node fires early is armed again for the rest', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  let monotonic = 0;
  context.mock.method(performance, 'now', () => monotonic);
  let ran = 0;
  systemClock().after(10, () => ran++);
  monotonic = 9.4;
  context.mock.timers.tick(10);
  assert.equal(ran, 0);
  monotonic = 10.4;
  context.mock.timers.tick(1);
  assert.equal(ran, 1);
});

test('random numbers and names', () => {
  const random = systemRandom();
  assert.match(random.hex(8), /^[0-9a-f]{16}$/);
  assert.notEqual(random.hex(16), random.hex(16));
  const number = random.next();
  assert.ok(number >= 0 && number < 1);
});
