import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutBytes, cutText } from './cut-text.ts';

test('bytes are cut over all pieces', () => {
  const [a, b] = [Buffer.from('abc'), Buffer.from('def')];
  const table: readonly (readonly [number, string])[] = [
    [0, ''],
    [2, 'ab'],
    [3, 'abc'],
    [5, 'abcde'],
    [6, 'abcdef'],
    [99, 'abcdef'],
  ];
  for (const [max, expected] of table) assert.equal(cutBytes(max, a, b), expected, String(max));
});

test('a text is cut at bytes, never within a character', () => {
  const table: readonly (readonly [string, number, string])[] = [
    ['abc', 3, 'abc'],
    ['abcd', 3, 'abc'],
    ['äö', 4, 'äö'],
    ['äö', 3, 'ä'],
    ['a\u{1f600}', 4, 'a'],
    ['', 0, ''],
  ];
  for (const [text, max, expected] of table) assert.equal(cutText(text, max), expected, `${text} ${max}`);
});

test('what is kept of a long text does not keep the rest in memory', () => {
  const kept = Array.from({ length: 20 }, (_, index) => cutText(`${index}`.repeat(4 * 1024 * 1024), 100));
  assert.ok(kept.every((text) => text.length === 100));
});
