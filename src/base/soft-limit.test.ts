import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { SoftLimit } from './soft-limit.ts';

function setUp() {
  const clock = new FakeClock();
  const limit = new SoftLimit({ clock, max: 2, releaseAfterMs: 20 });
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const come = (number: number, signal?: AbortSignal): Promise<number> =>
    limit.run(() => {
      begun.push(number);
      return new Promise((resolve) => ends.push(() => resolve(number)));
    }, signal);
  return { clock, limit, begun, ends, come };
}

test('a few begin at once, in order of arrival; each that ends lets the next begin', async () => {
  const { clock, begun, ends, come } = setUp();
  const all = Promise.all([1, 2, 3, 4].map((number) => come(number)));
  await turn();
  assert.deepEqual(begun, [1, 2]);
  ends[1]?.();
  await turn();
  assert.deepEqual(begun, [1, 2, 3]);
  ends[0]?.();
  await turn();
  assert.deepEqual(begun, [1, 2, 3, 4]);
  for (const end of ends) end();
  assert.deepEqual(await all, [1, 2, 3, 4]);
  assert.equal(clock.pending(), 0);
});

test('one that hangs keeps others waiting for a moment only, and is not given up', async () => {
  const { clock, begun, ends, come } = setUp();
  const first = come(1);
  for (const number of [2, 3, 4, 5]) void come(number);
  await clock.advance(19);
  assert.deepEqual(begun, [1, 2]);
  await clock.advance(1);
  assert.deepEqual(begun, [1, 2, 3, 4]);
  ends[0]?.();
  assert.equal(await first, 1);
  await turn();
  assert.deepEqual(begun, [1, 2, 3, 4], 'its place was given away before');
});

test('work that fails, also at once, frees its place and says so to who wanted it', async () => {
  const { limit, begun, come } = setUp();
  const fails = async (): Promise<never> => {
    throw new Error('no disk');
  };
  for (let time = 0; time < 3; time++) await assert.rejects(limit.run(fails), /no disk/);
  const atOnce = (): Promise<never> => {
    throw new Error('no work');
  };
  for (let time = 0; time < 3; time++) await assert.rejects(limit.run(atOnce), /no work/);
  void come(1);
  await turn();
  assert.deepEqual(begun, [1]);
});

test('work whose signal aborts in the queue is not begun', async () => {
  const { begun, ends, come } = setUp();
  const cancelled = new AbortController();
  void come(1);
  void come(2);
  const third = come(3, cancelled.signal);
  cancelled.abort(new Error('gone'));
  await assert.rejects(third, /gone/);
  for (const end of ends) end();
  await turn();
  assert.deepEqual(begun, [1, 2]);
});
