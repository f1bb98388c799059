import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { computeNextCheck, growthAfterRotation, measureGrowth, minCheckMs, type Growth } from './compute-next-check.ts';

const mebi = 1024 * 1024;
const limit = 10 * mebi;
const intervalMs = 10_000;

const next = (growth: Partial<Growth>): number | 'atWrite' => {
  const check = computeNextCheck({ size: 0, at: 0, rate: 0, grew: false, ...growth }, limit, intervalMs);
  return check.kind === 'soon' ? Math.round(check.ms) : check.kind;
};
const perSecond = (bytes: number): number => bytes / 1_000;

describe('the next check of a log', () => {
  test('that is quiet waits for a write', () => {
    assert.equal(next({}), 'atWrite');
    assert.equal(next({ size: 9 * mebi }), 'atWrite');
    // Its haste is not quite forgotten, but would not matter within a round.
    assert.equal(next({ rate: perSecond(100) }), 'atWrite');
  });

  test('that paused is awaited as long as its former haste could hurt', () => {
    assert.notEqual(next({ rate: perSecond(5 * mebi) }), 'atWrite');
  });

  test('that grows slowly comes before it could have doubled its limit, however fast it became', () => {
    assert.equal(next({ grew: true, rate: perSecond(100) }), 313);
    assert.equal(next({ grew: true, rate: perSecond(100), size: 9 * mebi }), 172);
  });

  test('that grows fast comes when it reaches its limit', () => {
    assert.equal(next({ grew: true, rate: perSecond(50 * mebi) }), 200);
    assert.equal(next({ grew: true, rate: perSecond(10 * mebi), size: 9 * mebi }), 100);
  });

  test('that is beyond all measure comes no sooner than the shortest time', () => {
    assert.equal(next({ grew: true, rate: 1e9 }), minCheckMs);
    assert.equal(next({ grew: true, size: 30 * mebi }), minCheckMs);
  });

  test('of a huge limit is left to the round', () => {
    const check = computeNextCheck({ size: 0, at: 0, rate: 1, grew: true }, 2 ** 40, intervalMs);
    assert.deepEqual(check, { kind: 'soon', ms: intervalMs });
  });

  test('of a tiny limit is not a busy loop', () => {
    const check = computeNextCheck({ size: 0, at: 0, rate: 0, grew: true }, 1, intervalMs);
    assert.ok(check.kind === 'soon' && check.ms >= minCheckMs);
  });
});

describe('growth', () => {
  test('of a log seen for the first time is unknown; one with lines in it counts as growing', () => {
    assert.deepEqual(measureGrowth(undefined, 5, 100), { size: 5, at: 100, rate: 0, grew: true });
    assert.equal(measureGrowth(undefined, 0, 100).grew, false);
  });

  test('is measured from check to check', () => {
    const first = measureGrowth(undefined, 1_000, 0);
    const second = measureGrowth(first, 3_000, 100);
    assert.deepEqual(second, { size: 3_000, at: 100, rate: 20, grew: true });
    assert.deepEqual(measureGrowth(second, 3_000, 200), { size: 3_000, at: 200, rate: 10, grew: false });
  });

  test('of a log that was emptied is none', () => {
    assert.equal(measureGrowth({ size: 500, at: 0, rate: 0, grew: true }, 10, 100).grew, false);
  });

  test('goes on after a rotation', () => {
    assert.deepEqual(growthAfterRotation({ size: 900, at: 0, rate: 7, grew: true }, 50), {
      size: 0,
      at: 50,
      rate: 7,
      grew: true,
    });
  });
});
