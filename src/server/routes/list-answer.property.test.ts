import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readAnswer } from '../../testing/route-requests.ts';
import { listAnswer } from './list-answer.ts';

test('entries of any length and alphabet come out whole, in order', async () => {
  const entry = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.nat(70_000).map((length) => '€'.repeat(length)),
    fc.nat(70_000).map((length) => 'a'.repeat(length)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { minLength: 17, maxLength: 40 }), async (items) => {
      const { body } = await readAnswer(listAnswer({ before: '{"a":[', items, after: ']}' }));
      assert.equal(body, JSON.stringify({ a: items }));
    }),
    { numRuns: 50 },
  );
});
