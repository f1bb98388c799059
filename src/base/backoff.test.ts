import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { Backoff } from './backoff.ts';

test('delays double from ten seconds to five minutes', () => {
  const clock = new FakeClock();
  const backoff = new Backoff({ clock });
  const delays: number[] = [];
  assert.equal(backoff.get('c'), 0);
  for (let round = 0; round < 7; round++) {
    backoff.next('c', clock.now());
    delays.push(backoff.get('c') / 1_000);
  }
  assert.deepEqual(delays, [10, 20, 40, 80, 160, 300, 300]);
});

test('the wait counts from the event, not from the update', async () => {
  const clock = new FakeClock();
  const backoff = new Backoff({ clock, initialMs: 10_000, maxMs: 300_000 });
  backoff.next('c', clock.now());
  await clock.advance(5_000);
  const finishedAt = clock.now();
  assert.equal(backoff.remainingMs('c', finishedAt), 10_000);
  await clock.advance(9_999);
  assert.equal(backoff.remainingMs('c', finishedAt), 1);
  assert.ok(backoff.isInBackoffSince('c', finishedAt));
  await clock.advance(1);
  assert.ok(!backoff.isInBackoffSince('c', finishedAt));
  assert.ok(!backoff.isInBackoffSince('other', finishedAt));
});

test('a key that ran well for twice the longest delay starts anew', async () => {
  const clock = new FakeClock();
  const backoff = new Backoff({ clock });
  backoff.next('c', clock.now());
  backoff.next('c', clock.now());
  await clock.advance(600_000);
  assert.ok(backoff.isInBackoffSince('c', clock.now()), 'twice the maximum is not yet more than it');
  await clock.advance(1);
  assert.equal(backoff.remainingMs('c', clock.now()), 0);
  backoff.next('c', clock.now());
  assert.equal(backoff.get('c'), 10_000);
});

test('gc forgets what is old and keeps what is not', async () => {
  const clock = new FakeClock();
  const backoff = new Backoff({ clock, initialMs: 1_000, maxMs: 2_000 });
  backoff.next('old', clock.now());
  await clock.advance(4_000);
  backoff.next('new', clock.now());
  backoff.gc();
  assert.equal(backoff.size, 2);
  await clock.advance(1);
  backoff.gc();
  assert.equal(backoff.size, 1);
  backoff.reset('new');
  assert.equal(backoff.size, 0);
});

test('the wait since the last attempt', async () => {
  const clock = new FakeClock();
  const backoff = new Backoff({ clock, initialMs: 1_000, maxMs: 2_000 });
  assert.equal(backoff.remainingSinceUpdateMs('i'), 0);
  backoff.next('i', clock.now());
  await clock.advance(400);
  assert.equal(backoff.remainingSinceUpdateMs('i'), 600);
});

test('a wall set back does not lengthen the wait', () => {
  const clock = new FakeClock({ wall: 10_000_000 });
  const backoff = new Backoff({ clock });
  backoff.next('c', clock.now());
  const finishedAt = clock.now();
  clock.setWall(5_000_000);
  assert.equal(backoff.remainingMs('c', finishedAt), 10_000);
});

test('a wait that has begun ends in time, wherever the wall is set', async () => {
  for (const byMs of [-5_000_000, 5_000_000]) {
    const clock = new FakeClock({ wall: 10_000_000 });
    const backoff = new Backoff({ clock });
    backoff.next('c', clock.now());
    const finishedAt = clock.now();
    assert.equal(backoff.remainingMs('c', finishedAt), 10_000);
    clock.setWall(clock.now() + byMs);
    await clock.advance(9_000);
    assert.equal(backoff.remainingMs('c', finishedAt), 1_000);
    await clock.advance(1_000);
    assert.equal(backoff.remainingMs('c', finishedAt), 0);
  }
});
