import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundTexts } from './runtime-metadata.ts';

test('the longest texts are left out until the others fit', () => {
  const texts = { a: 'x'.repeat(9), b: 'x'.repeat(29), c: 'x'.repeat(19), d: 'ä'.repeat(10) };
  const table: readonly (readonly [number, readonly string[]])[] = [
    [81, []],
    [80, ['b']],
    [51, ['b']],
    [50, ['b', 'd']],
    [10, ['b', 'd', 'c']],
    [0, ['b', 'd', 'c', 'a']],
  ];
  for (const [max, leftOut] of table) {
    const bounded = boundTexts(texts, max);
    assert.deepEqual(bounded.leftOut, leftOut, String(max));
    const rest = Object.fromEntries(Object.entries(texts).filter(([key]) => !leftOut.includes(key)));
    assert.deepEqual(bounded.kept, rest);
  }
});
