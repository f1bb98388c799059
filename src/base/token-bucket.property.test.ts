import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TokenBucket } from './token-bucket.ts';

const rate = fc.record({ perSecond: fc.integer({ min: 1, max: 20 }), burst: fc.integer({ min: 0, max: 10 }) });
const steps = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2_000 })), { maxLength: 60 });

test('in no span of time more than the burst and what the rate gives', () => {
  fc.assert(
    fc.property(rate, steps, (rate, steps) => {
      let now = 0;
      const bucket = new TokenBucket({ monotonic: () => now }, rate);
      const taken: number[] = [];
      for (const step of steps) {
        now += step;
        if (bucket.tryTake()) taken.push(now);
      }
      for (const [first, begin] of taken.entries()) {
        for (const [last, end] of taken.entries()) {
          const allowed = rate.burst + ((end - begin) * rate.perSecond) / 1_000;
          if (last >= first) assert.ok(last - first + 1 <= allowed + 1e-9, `${last - first + 1} in ${end - begin} ms`);
        }
      }
    }),
  );
});

test('what is within the rate is never refused', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 10 }), steps, (perSecond, burst, extra) => {
      let now = 0;
      const bucket = new TokenBucket({ monotonic: () => now }, { perSecond, burst });
      for (const more of extra) {
        now += Math.ceil(1_000 / perSecond) + more;
        assert.equal(bucket.tryTake(), true);
      }
    }),
  );
});

test('0 a second is no limit', () => {
  const bucket = new TokenBucket({ monotonic: () => 0 }, { perSecond: 0, burst: 0 });
  for (let n = 0; n < 1_000; n++) assert.equal(bucket.tryTake(), true);
});
