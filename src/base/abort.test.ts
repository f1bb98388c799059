import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { linkedSignal, raceAbort, withTimeout } from './abort.ts';

const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

test('a linked signal aborts with its parent and its reason', () => {
  const parent = new AbortController();
  const linked = linkedSignal(parent.signal);
  const reason = new Error('parent');
  parent.abort(reason);
  assert.equal(linked.signal.reason, reason);
  assert.equal(listeners(parent.signal), 0);
  assert.equal(linkedSignal(parent.signal).signal.reason, reason);
});

test('a linked signal times out with its own kind of error', async () => {
  const clock = new FakeClock();
  const parent = new AbortController();
  const linked = linkedSignal(parent.signal, { clock, ms: 100 });
  await clock.advance(99);
  assert.ok(!linked.signal.aborted);
  await clock.advance(1);
  assert.equal((linked.signal.reason as { kind: string }).kind, 'timeout');
  assert.equal(listeners(parent.signal), 0);
});

test('release lets go of parent and timer; abort still works', () => {
  const clock = new FakeClock();
  const parent = new AbortController();
  const linked = linkedSignal(parent.signal, { clock, ms: 100 });
  assert.equal(listeners(parent.signal), 1);
  linked.release();
  linked.release();
  assert.equal(listeners(parent.signal), 0);
  assert.equal(clock.pending(), 0);
  parent.abort();
  assert.ok(!linked.signal.aborted);
  linked.abort(new Error('own'));
  assert.ok(linked.signal.aborted);
});

test('raceAbort: outcome first, abort first, aborted before', async () => {
  const controller = new AbortController();
  assert.equal(await raceAbort(Promise.resolve(1), controller.signal), 1);
  await assert.rejects(raceAbort(Promise.reject(new Error('own')), controller.signal), /own/);
  assert.equal(listeners(controller.signal), 0);

  let fail: (error: Error) => void = () => {};
  const slow = new Promise<void>((_resolve, reject) => (fail = reject));
  const raced = raceAbort(slow, controller.signal);
  const reason = new Error('stop');
  controller.abort(reason);
  await assert.rejects(raced, reason);
  await assert.rejects(raceAbort(slow, controller.signal), reason);
  // No caller waits for it any more; an unhandled rejection would fail this test.
  fail(new Error('late'));
  await new Promise(setImmediate);
});

test('withTimeout hands on the outcome and leaves nothing behind', async () => {
  const clock = new FakeClock();
  const parent = new AbortController();
  assert.equal(await withTimeout(clock, 50, async () => 7, parent.signal), 7);
  await assert.rejects(
    withTimeout(
      clock,
      50,
      () => {
        throw new Error('at once');
      },
      parent.signal,
    ),
    /at once/,
  );
  assert.equal(clock.pending(), 0);
  assert.equal(listeners(parent.signal), 0);
});

test('withTimeout ends a run that pays no heed, and one whose parent aborts', async () => {
  const clock = new FakeClock();
  const deaf = withTimeout(clock, 50, () => new Promise<void>(() => {}));
  const ended = assert.rejects(deaf, { kind: 'timeout' });
  await clock.advance(50);
  await ended;

  const parent = new AbortController();
  const running = withTimeout(clock, 50, (signal) => clock.sleep(1_000, signal), parent.signal);
  const reason = new Error('shutdown');
  parent.abort(reason);
  await assert.rejects(running, reason);
  let ran = false;
  const late = withTimeout(
    clock,
    50,
    async () => {
      ran = true;
    },
    parent.signal,
  );
  await assert.rejects(late, reason);
  assert.ok(!ran);
  assert.equal(clock.pending(), 0);
  assert.equal(listeners(parent.signal), 0);
});
