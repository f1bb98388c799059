import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../testing/fake-clock.ts';
import { LastKnown } from './last-known.ts';

function known(read: () => Promise<number>, errors: unknown[] = []) {
  const clock = new FakeClock();
  const onError = (error: unknown): void => void errors.push(error);
  return { clock, value: new LastKnown({ clock, read, maxAgeMs: 1_000, timeoutMs: 100, onError }) };
}

test('read once while it is new', async () => {
  let reads = 0;
  const { clock, value } = known(async () => ++reads);
  assert.equal(await value.get(), 1);
  assert.equal(await value.get(), 1);
  await clock.advance(1_000);
  assert.equal(await value.get(), 2);
  assert.equal(clock.pending(), 0);
});

test('a failure keeps the known value', async () => {
  let fail = false;
  const errors: unknown[] = [];
  const { clock, value } = known(async () => {
    if (fail) throw new Error('no');
    return 7;
  }, errors);
  await value.get();
  fail = true;
  await clock.advance(1_000);
  assert.equal(await value.get(), 7);
  assert.equal(errors.length, 1);
});

test('callers do not wait for a late answer; when it comes it counts', async () => {
  let resolve: (value: number) => void = () => {};
  const promise = new Promise<number>((answer) => (resolve = answer));
  let reads = 0;
  const { clock, value } = known(() => (reads++, promise));
  const first = value.get();
  await clock.advance(100);
  assert.equal(await first, undefined);
  const second = value.get();
  resolve(9);
  assert.equal(await second, 9);
  assert.equal(reads, 1);
});
