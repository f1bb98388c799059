import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../../base/clock.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { LoopLag } from './loop-lag.ts';

/** A clock of a process that gets no turns for a while: time goes on, and timers come late. */
function stallingClock(): { readonly clock: Clock; readonly fake: FakeClock; readonly stall: (ms: number) => void } {
  const fake = new FakeClock();
  let stalled = 0;
  const clock: Clock = {
    now: () => fake.now() + stalled,
    monotonic: () => fake.monotonic() + stalled,
    sleep: (ms, signal) => fake.sleep(ms, signal),
    after: (ms, callback) => fake.after(ms, callback),
  };
  return { clock, fake, stall: (ms) => void (stalled += ms) };
}

test('a loop that is on time does not lag', async () => {
  const clock = new FakeClock();
  const watch = new LoopLag(clock).watch();
  await clock.advance(1_234);
  assert.equal(watch.lagMs(), 0);
});

test('a stall counts even before the tick that should have noticed it', () => {
  const { clock, stall } = stallingClock();
  const watch = new LoopLag(clock).watch();
  stall(700);
  assert.equal(watch.lagMs(), 600, 'the part within the tick cannot be separated from time without lag');
});

test('stalls add up over the ticks of a watch, and a watch sees only its own time', async () => {
  const { clock, fake, stall } = stallingClock();
  const lag = new LoopLag(clock);
  const first = lag.watch();
  await fake.advance(100);
  stall(300);
  await fake.advance(100);
  const second = lag.watch();
  await fake.advance(100);
  stall(200);
  await fake.advance(100);
  assert.equal(first.lagMs(), 500);
  assert.equal(second.lagMs(), 200);
});

test('it ticks only while there is a watch', async () => {
  const clock = new FakeClock();
  const lag = new LoopLag(clock);
  assert.equal(clock.pending(), 0);
  const [one, other] = [lag.watch(), lag.watch()];
  assert.equal(clock.pending(), 1);
  one.end();
  one.end();
  assert.equal(clock.pending(), 1);
  other.end();
  assert.equal(clock.pending(), 0);
});
