import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goQuote } from './go-quote.ts';

// What Go's strconv.Quote writes for the same text.
const table: [string, string][] = [
  ['', '""'],
  ['plain text', '"plain text"'],
  ['say "hi"', '"say \\"hi\\""'],
  ['back\\slash', '"back\\\\slash"'],
  ['a\tb\nc\r', '"a\\tb\\nc\\r"'],
  ['\u0007\b\f\v', '"\\a\\b\\f\\v"'],
  ['\u0000\u001b\u007f', '"\\x00\\x1b\\x7f"'],
  ['héllo 日本 ☺', '"héllo 日本 ☺"'],
  ['\u00a0\u200b\ufeff', '"\\u00a0\\u200b\\ufeff"'],
  ['😀', '"😀"'],
  ['\u{e0001}', '"\\U000e0001"'],
  ['\ud800', '"\uFFFD"'],
];

for (const [text, quoted] of table) test(`quotes ${JSON.stringify(text)}`, () => assert.equal(goQuote(text), quoted));
