import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SeenInodes } from './seen-inodes.ts';

test('files with several names count once, also beyond the limit of recorded ones, in any order', () => {
  const files = fc.array(fc.integer({ min: 2, max: 9 }), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(files, fc.integer({ min: 0, max: 12 }), fc.infiniteStream(fc.nat()), (names, maxKnown, order) => {
      const seen = new SeenInodes(maxKnown);
      const all = names
        .flatMap((count, inode) => Array.from({ length: count }, () => ({ inode, count, place: order.next().value })))
        .toSorted((one, other) => one.place - other.place);
      const total = all.reduce((sum, { inode, count }) => sum + seen.share(inode, count), 0);
      assert.ok(Math.abs(total - names.length) < 1e-6, `${total} of ${names.length}`);
    }),
  );
});
