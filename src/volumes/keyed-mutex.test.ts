import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeyedMutex } from './keyed-mutex.ts';

function held(): { promise: Promise<void>; end: () => void } {
  let end = (): void => {};
  const promise = new Promise<void>((resolve) => void (end = resolve));
  return { promise, end };
}

test('work on one key waits in order, work on another does not', async () => {
  const mutex = new KeyedMutex();
  const first = held();
  const log: string[] = [];
  const work = (name: string, until?: Promise<void>) => async () => {
    log.push(`${name} begins`);
    await until;
    log.push(`${name} ends`);
  };
  const one = mutex.run('a', work('one', first.promise));
  const two = mutex.run('a', work('two'));
  await mutex.run('b', work('beside'));
  assert.deepEqual(log, ['one begins', 'beside begins', 'beside ends']);
  first.end();
  await Promise.all([one, two]);
  assert.deepEqual(log.slice(3), ['one ends', 'two begins', 'two ends']);
});

test('a failure does not affect the next, and work that was aborted while waiting never begins', async () => {
  const mutex = new KeyedMutex();
  const first = held();
  const failing = mutex.run('a', async () => {
    await first.promise;
    throw new Error('no');
  });
  const gaveUp = new AbortController();
  let began = false;
  const waiting = mutex.run('a', async () => void (began = true), gaveUp.signal);
  const after = mutex.run('a', async () => 'fine');
  gaveUp.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  first.end();
  await assert.rejects(failing, /no/);
  assert.deepEqual([await after, began], ['fine', false]);
});
