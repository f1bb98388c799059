import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import type { Log } from './log.ts';
import { superviseLoop, type LoopOptions } from './loop.ts';

const noJitter = { next: () => 0, hex: () => '' };

function start(body: LoopOptions['body'], extra: Partial<LoopOptions> = {}) {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const controller = new AbortController();
  const { signal } = controller;
  const handle = superviseLoop({ name: 'sample', clock, log, random: noJitter, signal, body, ...extra });
  return { clock, log, controller, handle };
}

test('rounds go on until the signal aborts, and the beat follows them', async () => {
  let rounds = 0;
  const beats: number[] = [];
  const { clock, log, controller, handle } = start(
    async (signal) => {
      await sleep(signal);
      rounds++;
    },
    { onHeartbeat: (at) => beats.push(at) },
  );
  const sleep = (signal: AbortSignal) => clock.sleep(100, signal);
  await clock.advance(250);
  assert.equal(rounds, 2);
  assert.equal(handle.lastBeatMonotonic(), 200);
  assert.deepEqual([...new Set(beats)], [0, 100, 200]);
  controller.abort();
  await handle.done;
  assert.equal(clock.pending(), 0);
  assert.deepEqual(log.entries, []);
});

test('a throw is logged with the name and backed off, doubling up to the limit and afresh after a good round', async () => {
  const at: number[] = [];
  const { clock, log, controller, handle } = start(
    async (signal) => {
      at.push(clockOf());
      if (at.length !== 5) throw new Error('bad round');
      await pause(signal);
    },
    { restartBackoff: { initialMs: 100, maxMs: 400 } },
  );
  const clockOf = () => clock.monotonic();
  const pause = (signal: AbortSignal) => clock.sleep(10, signal);
  await clock.advance(1_250);
  assert.deepEqual(at, [0, 100, 300, 700, 1_100, 1_110, 1_210]);
  assert.deepEqual(log.messages('error').length, 6);
  assert.deepEqual(log.entries[0]?.fields, { loop: 'sample', retryInMs: 100 });
  controller.abort();
  await handle.done;
});

test('an abort during the back-off ends the loop at once', async () => {
  const { clock, controller, handle } = start(() => Promise.reject(new Error('always')));
  await clock.settle();
  assert.equal(clock.pending(), 1);
  controller.abort();
  await handle.done;
  assert.equal(clock.pending(), 0);
});

test('a body that throws before it waits, a failing heartbeat and a failing log do not end the loop', async () => {
  const fail = () => {
    throw new Error('disk full');
  };
  const failingLog: Log = { info: fail, debug: fail, warn: fail, error: fail, with: () => failingLog };
  let rounds = 0;
  let beats = 0;
  const { clock, controller, handle } = start(
    () => {
      rounds++;
      throw new Error('at once');
    },
    { log: failingLog, onHeartbeat: () => (beats++ === 0 ? fail() : undefined) },
  );
  await clock.advance(3_500);
  assert.equal(rounds, 2);
  controller.abort();
  await handle.done;
});

test('a body that never waits leaves turns to others', async () => {
  const controller = new AbortController();
  let rounds = 0;
  const { handle } = start(
    async () => {
      rounds++;
    },
    { signal: controller.signal },
  );
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  controller.abort();
  await handle.done;
  assert.ok(rounds >= 256);
});
