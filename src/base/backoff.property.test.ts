import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nextEntry, remaining, type BackoffEntry } from './backoff.ts';

const limits = fc
  .tuple(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 0, max: 100_000 }))
  .map(([initialMs, more]) => ({ initialMs, maxMs: initialMs + more }));

test('delays stay within the limits, grow at most twofold, and a wait ends after its delay', () => {
  fc.assert(
    fc.property(limits, fc.array(fc.integer({ min: 0, max: 300_000 }), { maxLength: 30 }), (bounds, pauses) => {
      let entry: BackoffEntry | undefined;
      let now = 1_000_000;
      for (const pause of pauses) {
        const before = entry;
        now += pause;
        entry = nextEntry(before, now, now, bounds);
        assert.ok(entry.delayMs >= bounds.initialMs && entry.delayMs <= bounds.maxMs);
        const quietFor = before === undefined ? Infinity : now - before.updatedAt;
        const expected = quietFor > 2 * bounds.maxMs ? bounds.initialMs : Math.min(bounds.maxMs, 2 * before!.delayMs);
        assert.equal(entry.delayMs, expected);
        assert.equal(remaining(entry, now, now, bounds), entry.delayMs);
        assert.equal(remaining(entry, now, now + entry.delayMs, bounds), 0);
        assert.ok(remaining(entry, now, now + entry.delayMs - 1, bounds) > 0);
      }
    }),
  );
});
