import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { Heartbeats } from './heartbeats.ts';
import type { Log } from './log.ts';
import { superviseLoop, type LoopOptions } from './loop.ts';

const noJitter = { next: () => 0, hex: () => '' };

function start(body: LoopOptions['body'], extra: Partial<LoopOptions> = {}) {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const controller = new AbortController();
  const { signal } = controller;
  const heartbeats = new Heartbeats();
  const handle = superviseLoop({ name: 'sample', heartbeats, clock, log, random: noJitter, signal, body, ...extra });
  return { clock, log, controller, handle, heartbeats };
}

test('rounds go on until the signal aborts', async () => {
  let rounds = 0;
  const { clock, log, controller, handle } = start(async (signal) => {
    await sleep(signal);
    rounds++;
  });
  const sleep = (signal: AbortSignal) => clock.sleep(100, signal);
  await clock.advance(250);
  assert.equal(rounds, 2);
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

test('a body that throws before it waits and a failing log do not end the loop', async () => {
  const fail = () => {
    throw new Error('disk full');
  };
  const failingLog: Log = { info: fail, debug: fail, warn: fail, error: fail, with: () => failingLog };
  let rounds = 0;
  const { clock, controller, handle } = start(
    () => {
      rounds++;
      throw new Error('at once');
    },
    { log: failingLog },
  );
  await clock.advance(3_500);
  assert.equal(rounds, 3);
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

describe('what a loop shows of itself', () => {
  const shown = (heartbeats: Heartbeats) =>
    heartbeats.all().map(({ name, stage, since, lastBeat, failures }) => ({ name, stage, since, lastBeat, failures }));

  test('a round, a wait on purpose, a round again, and nothing once it has ended', async () => {
    const { clock, controller, handle, heartbeats } = start(async (signal, round) => {
      await clock.sleep(10, signal);
      await round.waitFor(clock.sleep(100, signal));
      await clock.sleep(5, signal);
    });
    const at = async (ms: number) => {
      await clock.advance(ms - clock.monotonic());
      return shown(heartbeats)[0];
    };
    const common = { name: 'sample', failures: 0 };
    assert.deepEqual(await at(9), { ...common, stage: 'round', since: 0, lastBeat: 0 });
    assert.deepEqual(await at(109), { ...common, stage: 'waiting', since: 10, lastBeat: 10 });
    assert.deepEqual(await at(114), { ...common, stage: 'round', since: 110, lastBeat: 110 });
    assert.deepEqual(await at(116), { ...common, stage: 'round', since: 115, lastBeat: 115 });
    controller.abort();
    await handle.done;
    assert.deepEqual(heartbeats.all(), []);
  });

  test('a beat in a long round, and the wait that yields its outcome or its failure', async () => {
    const outcomes: unknown[] = [];
    const { clock, controller, handle, heartbeats } = start(async (signal, round) => {
      outcomes.push(await round.waitFor(Promise.resolve('work')));
      await round.waitFor(Promise.reject(new Error('no'))).catch((error: unknown) => outcomes.push(error));
      await clock.sleep(10, signal);
      round.beat();
      await clock.sleep(10, signal);
    });
    await clock.advance(15);
    assert.deepEqual(outcomes, ['work', new Error('no')]);
    assert.deepEqual(shown(heartbeats), [{ name: 'sample', stage: 'round', since: 0, lastBeat: 10, failures: 0 }]);
    controller.abort();
    await handle.done;
  });

  test('failures in a row and the back-off after them, until a round ends well', async () => {
    let failing = 2;
    const { clock, controller, handle, heartbeats } = start(
      async (signal, round) => {
        if (failing-- > 0) throw new Error('bad round');
        await round.waitFor(clock.sleep(10, signal));
      },
      { restartBackoff: { initialMs: 100, maxMs: 400 } },
    );
    await clock.advance(150);
    assert.deepEqual(shown(heartbeats), [{ name: 'sample', stage: 'backOff', since: 100, lastBeat: 100, failures: 2 }]);
    await clock.advance(155);
    assert.deepEqual(shown(heartbeats)[0]?.failures, 2);
    await clock.advance(10);
    assert.deepEqual(shown(heartbeats)[0]?.failures, 0);
    controller.abort();
    await handle.done;
  });

  test('several waits at once are one, and a wait that a round abandoned does not count in the next', async () => {
    const never = new Promise<void>(() => {});
    let rounds = 0;
    const { clock, controller, handle, heartbeats } = start(
      async (signal, round) => {
        if (++rounds === 1) {
          void round.waitFor(never);
          await Promise.all([round.waitFor(clock.sleep(10, signal)), round.waitFor(clock.sleep(20, signal))]);
          throw new Error('gave up waiting');
        }
        await clock.sleep(1_000, signal);
      },
      { restartBackoff: { initialMs: 100, maxMs: 100 } },
    );
    await clock.advance(15);
    assert.equal(shown(heartbeats)[0]?.stage, 'waiting');
    await clock.advance(10);
    assert.equal(shown(heartbeats)[0]?.stage, 'backOff');
    await clock.advance(100);
    assert.deepEqual(shown(heartbeats), [{ name: 'sample', stage: 'round', since: 120, lastBeat: 120, failures: 1 }]);
    controller.abort();
    await handle.done;
  });
});
