import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { Mailbox } from './mailbox.ts';

const concat = () => new Mailbox<string>((waiting, next) => waiting + next);

test('messages that wait are merged, in order', async () => {
  const box = concat();
  const { signal } = new AbortController();
  box.put('a');
  box.put('b');
  assert.equal(box.peek(), 'ab');
  assert.equal(await box.take(signal), 'ab');
  assert.equal(box.peek(), undefined);
});

test('a taker gets what comes, also when it is undefined', async () => {
  const box = new Mailbox<string | undefined>((_waiting, next) => next);
  const { signal } = new AbortController();
  const taken = box.take(signal);
  box.put(undefined);
  assert.equal(await taken, undefined);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('an abort between put and take loses nothing', async () => {
  const box = concat();
  const controller = new AbortController();
  const taken = box.take(controller.signal);
  box.put('a');
  const reason = new Error('stop');
  controller.abort(reason);
  await assert.rejects(taken, reason);
  assert.equal(await box.take(new AbortController().signal), 'a');
  await assert.rejects(box.take(controller.signal), reason);
});

test('waiting and aborting leave no listener', async () => {
  const box = concat();
  const controller = new AbortController();
  for (let round = 0; round < 3; round++) {
    const taken = box.take(controller.signal);
    assert.equal(getEventListeners(controller.signal, 'abort').length, 1);
    box.put('x');
    await taken;
  }
  const last = box.take(controller.signal);
  controller.abort();
  await assert.rejects(last);
  assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
});

test('there is one taker', async () => {
  const box = concat();
  const { signal } = new AbortController();
  const first = box.take(signal);
  await assert.rejects(box.take(signal), /one taker/);
  box.put('a');
  assert.equal(await first, 'a');
});

test('a closed mailbox gives what it has and then turns takers away', async () => {
  const box = concat();
  const { signal } = new AbortController();
  box.put('a');
  box.close();
  box.put('b');
  assert.equal(await box.take(signal), 'a');
  await assert.rejects(box.take(signal), { kind: 'cancelled' });

  const other = concat();
  const waiting = other.take(signal);
  other.close();
  await assert.rejects(waiting, { kind: 'cancelled' });
});
