import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FakeClock } from '../testing/fake-clock.ts';
import { DelayQueue } from './delay-queue.ts';

const step = fc.oneof(
  fc.record({
    do: fc.constant('add' as const),
    key: fc.integer({ min: 0, max: 5 }),
    ms: fc.integer({ min: -1, max: 40 }),
  }),
  fc.record({ do: fc.constant('cancel' as const), key: fc.integer({ min: 0, max: 5 }), ms: fc.constant(0) }),
  fc.record({ do: fc.constant('wait' as const), key: fc.constant(0), ms: fc.integer({ min: 0, max: 30 }) }),
);

test('each key comes out at its earliest time, as a table of due times predicts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const clock = new FakeClock({ quietTurns: 2 });
      const queue = new DelayQueue<number>(clock);
      const controller = new AbortController();
      const seen: { key: number; at: number }[] = [];
      const done = (async () => {
        for (;;) seen.push({ key: await queue.take(controller.signal), at: clock.monotonic() });
      })().catch(() => undefined);
      await clock.settle();

      const due = new Map<number, number>();
      const expected: { key: number; at: number }[] = [];
      const pass = (until: number) => {
        const ready = [...due].filter(([, at]) => at <= until).sort((a, b) => a[1] - b[1]);
        for (const [key, at] of ready) {
          expected.push({ key, at });
          due.delete(key);
        }
      };
      for (const { do: what, key, ms } of steps) {
        const at = clock.monotonic() + Math.max(0, ms);
        if (what === 'wait') pass(at);
        if (what === 'cancel') {
          queue.cancel(key);
          due.delete(key);
        }
        if (what === 'add') {
          queue.add(key, ms);
          if ((due.get(key) ?? Infinity) > at) due.set(key, at);
        }
        if (what === 'wait') await clock.advance(ms);
      }
      await clock.advance(100);
      pass(clock.monotonic());
      controller.abort();
      await done;
      // Within one instant the order of keys is that of their adding, which the table does not keep.
      const canonical = (list: typeof seen) => list.map(({ key, at }) => `${String(at).padStart(6, '0')} ${key}`);
      assert.deepEqual(
        seen.map((entry) => entry.at),
        seen.map((entry) => entry.at).sort((a, b) => a - b),
      );
      assert.deepEqual(canonical(seen).sort(), canonical(expected).sort());
      assert.equal(queue.size, 0);
    }),
    { numRuns: 60 },
  );
});
