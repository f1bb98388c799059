import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LastNames } from './last-names.ts';

test('the last names of all that were added, in order', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string()), fc.integer({ min: 1, max: 9 }), (added, max) => {
      const last = new LastNames(max);
      for (const name of added) last.add(name);
      assert.deepEqual(last.all(), added.toSorted().slice(-max));
    }),
  );
});
