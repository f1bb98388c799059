import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { beatMs, type Beats } from './engine-meter.ts';
import { LoopLag } from './loop-lag.ts';

/** Beats that come as late as the test wants. */
class FakeBeats implements Beats {
  #lags: number[] = [];

  beat(...lagsMs: readonly number[]): void {
    this.#lags.push(...lagsMs.map((ms) => (ms + beatMs) * 1e6));
  }

  get count(): number {
    return this.#lags.length;
  }

  get max(): number {
    return Math.max(...this.#lags);
  }

  get mean(): number {
    return this.#lags.reduce((sum, lag) => sum + lag, 0) / this.count;
  }

  percentile(percent: number): number {
    return this.#lags.toSorted((a, b) => a - b)[Math.ceil((percent / 100) * this.count) - 1] ?? Number.NaN;
  }

  reset(): void {
    this.#lags = [];
  }

  enable(): boolean {
    return true;
  }

  disable(): boolean {
    return true;
  }
}

const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;

function setUp(): { clock: FakeClock; beats: FakeBeats; lag: LoopLag; worst: () => number | undefined } {
  const [clock, beats] = [new FakeClock(), new FakeBeats()];
  const lag = new LoopLag({ clock, beats });
  lag.enable();
  return { clock, beats, lag, worst: () => rounded(lag.read().quantiles.at(-1)?.[1] ?? Number.NaN) };
}

test('without a beat there is no lag', () => {
  const { lag } = setUp();
  assert.deepEqual(lag.read(), {
    quantiles: [
      [0.5, 0],
      [0.9, 0],
      [0.99, 0],
      [1, 0],
    ],
    sum: 0,
    count: 0,
  });
});

test('a beat in time is no lag, nor is one that is early', () => {
  const { beats, lag } = setUp();
  beats.beat(0, -1);
  const { quantiles, count } = lag.read();
  assert.deepEqual(
    quantiles.map(([, value]) => value),
    [0, 0, 0, 0],
  );
  assert.equal(count, 2);
});

test('the worst is seen by every reader who comes within half a minute, and then goes', async () => {
  const { clock, beats, worst } = setUp();
  beats.beat(0, 0, 0, 200);
  await clock.advance(30_000);
  assert.equal(worst(), 0.2, 'the first reader begins a new window');
  beats.beat(10);
  await clock.advance(29_000);
  assert.equal(worst(), 0.2, 'the second reader sees the one before');
  await clock.advance(1_000);
  assert.equal(worst(), 0.2);
  beats.beat(5);
  await clock.advance(30_000);
  assert.equal(worst(), 0.01);
});

test('sum and count only grow', async () => {
  const { clock, beats, lag } = setUp();
  beats.beat(100, 300);
  assert.equal(rounded(lag.read().sum), 0.4);
  await clock.advance(30_000);
  lag.read();
  beats.beat(100);
  const { sum, count } = lag.read();
  assert.deepEqual([rounded(sum), count], [0.5, 3]);
});
