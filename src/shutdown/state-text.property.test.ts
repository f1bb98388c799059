import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatTimes, parseTimes } from './state-text.ts';

const ms = fc.integer({ min: 0, max: 4_102_444_800_000 });

test('times are read as they were written, and no text throws', () => {
  fc.assert(
    fc.property(ms, ms, (startMs, endMs) => {
      assert.deepEqual(parseTimes(formatTimes({ startMs, endMs })), { startMs, endMs });
      assert.deepEqual(parseTimes(formatTimes({ startMs })), { startMs });
    }),
  );
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      const times = parseTimes(text);
      assert.ok(times === undefined || !Number.isNaN(times.startMs ?? 0));
    }),
  );
});
