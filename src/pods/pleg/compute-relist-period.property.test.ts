import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { computeRelistPeriod, type RelistOutcome, type RelistPace } from './compute-relist-period.ts';

const bounds = fc
  .record({ minMs: fc.integer({ min: 1, max: 5_000 }), factor: fc.integer({ min: 1, max: 20 }) })
  .map(({ minMs, factor }) => ({ minMs, maxMs: minMs * factor }));
const outcome = fc.record({ covered: fc.boolean(), hadEvents: fc.boolean(), missed: fc.boolean() });

const walk = (
  start: RelistPace,
  outcomes: readonly RelistOutcome[],
  within: Parameters<typeof computeRelistPeriod>[2],
) =>
  outcomes.reduce(
    (paces: RelistPace[], next) => [...paces, computeRelistPeriod(paces.at(-1) ?? start, next, within)],
    [],
  );

test('the period stays within its bounds and never more than doubles', () => {
  fc.assert(
    fc.property(bounds, fc.array(outcome, { minLength: 1 }), (within, outcomes) => {
      const start = { periodMs: within.minMs, suspect: false };
      let before = start.periodMs;
      for (const { periodMs } of walk(start, outcomes, within)) {
        assert.ok(periodMs >= within.minMs && periodMs <= within.maxMs);
        assert.ok(periodMs <= 2 * before);
        before = periodMs;
      }
    }),
  );
});

test('a missed change or a stream that is down means the minimum period, whatever was before', () => {
  fc.assert(
    fc.property(bounds, fc.array(outcome), outcome, (within, past, last) => {
      fc.pre(last.missed || !last.covered);
      const pace = walk({ periodMs: within.minMs, suspect: false }, [...past, last], within).at(-1);
      assert.equal(pace?.periodMs, within.minMs);
    }),
  );
});

test('however bad the past, a stream that sends events and misses none reaches the maximum period', () => {
  const good = Array.from({ length: 16 }, () => ({ covered: true, hadEvents: true, missed: false }));
  fc.assert(
    fc.property(bounds, fc.array(outcome), (within, past) => {
      const pace = walk({ periodMs: within.minMs, suspect: false }, [...past, ...good], within).at(-1);
      assert.deepEqual(pace, { periodMs: within.maxMs, suspect: false });
    }),
  );
});

test('a stream that only ever misses is never given more than one relaxed period', () => {
  fc.assert(
    fc.property(bounds, fc.array(fc.boolean()), (within, changes) => {
      const outcomes = changes.map((missed) => ({ covered: true, hadEvents: false, missed }));
      const first = changes.indexOf(true);
      const paces = walk({ periodMs: within.minMs, suspect: false }, outcomes, within);
      for (const { periodMs } of first < 0 ? [] : paces.slice(first)) assert.equal(periodMs, within.minMs);
    }),
  );
});
