import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FakeClock } from '../testing/fake-clock.ts';
import { Limiter } from './limiter.ts';

test('never more than the limit run, they begin in order, and all of them end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.record({ ms: fc.integer({ min: 0, max: 20 }), fails: fc.boolean() }), { maxLength: 20 }),
      async (max, pieces) => {
        const clock = new FakeClock({ quietTurns: 1 });
        const limiter = new Limiter(max);
        const began: number[] = [];
        let running = 0;
        const outcomes = Promise.allSettled(
          pieces.map(({ ms, fails }, index) =>
            limiter.run(async () => {
              began.push(index);
              assert.ok(++running <= max);
              await clock.sleep(ms);
              running--;
              if (fails) throw new Error('fails');
            }),
          ),
        );
        await clock.advance(1_000);
        const settled = await outcomes;
        assert.deepEqual(began, [...pieces.keys()]);
        assert.deepEqual(
          settled.map((outcome) => outcome.status === 'rejected' && outcome.reason.message === 'fails'),
          pieces.map((piece) => piece.fails),
        );
        assert.deepEqual([limiter.active, limiter.waiting], [0, 0]);
      },
    ),
    { numRuns: 60 },
  );
});
