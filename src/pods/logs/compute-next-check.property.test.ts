import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { computeNextCheck, growthAfterRotation, measureGrowth, minCheckMs, type Growth } from './compute-next-check.ts';

const kibi = 1024;
const mebi = kibi * kibi;
const intervalMs = 10_000;

/** The fastest that can be kept within bounds: the maximum rate, and a limit per shortest check. */
const fastest = (limit: number): number => Math.min((64 * mebi) / 1_000, limit / minCheckMs);

test('no log that changes its rate at any time exceeds twice its limit, and a quiet one is left alone', () => {
  const phase = fc.record({
    /** Of the fastest; half of the phases are silent or slow. */
    haste: fc.oneof(
      fc.constant(0),
      fc.double({ min: 0, max: 0.001, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
    ),
    ms: fc.integer({ min: 1, max: 3_000 }),
  });
  const limits = fc.integer({ min: 64 * kibi, max: 100 * mebi });
  fc.assert(
    fc.property(limits, fc.array(phase, { minLength: 1, maxLength: 8 }), (limit, phases) => {
      let growth: Growth | undefined;
      let [at, size, checkAt, restUntil, checks] = [0, 0, 0, 0, 0];
      const write = (bytes: number): void => {
        size += bytes;
        assert.ok(size <= 2 * limit + 1, `${size} bytes of ${limit}`);
      };
      const check = (): void => {
        checks++;
        growth = measureGrowth(growth, size, at);
        if (size >= limit) {
          growth = growthAfterRotation(growth, at);
          size = 0;
        }
        const next = computeNextCheck(growth, limit, intervalMs);
        checkAt = next.kind === 'soon' ? at + next.ms : Number.POSITIVE_INFINITY;
        restUntil = next.kind === 'atWrite' ? at + next.restMs : 0;
      };
      check();
      for (const { haste, ms } of phases) {
        const rate = haste * fastest(limit);
        const end = at + ms;
        for (;;) {
          // The watch reports the first write.
          if (checkAt === Number.POSITIVE_INFINITY && rate > 0) {
            write(1);
            checkAt = Math.max(at, restUntil);
          }
          if (checkAt > end) break;
          write(rate * (checkAt - at));
          at = checkAt;
          check();
        }
        write(rate * (end - at));
        at = end;
      }
      // Then it falls silent: a few checks later nothing is scheduled any more.
      checks = 0;
      while (checkAt !== Number.POSITIVE_INFINITY) {
        at = checkAt;
        check();
        assert.ok(checks < 60, 'it comes to rest');
      }
    }),
  );
});
