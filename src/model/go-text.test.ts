import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goJson, goQuote } from './go-text.ts';

test('quoted texts', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['plain text', '"plain text"'],
    ['a"b\\c', '"a\\"b\\\\c"'],
    ['\n\t\r\u0007\u0000\u007f', '"\\n\\t\\r\\a\\x00\\x7f"'],
    ['größe 日本 €', '"größe 日本 €"'],
    ['\u00a0\u200b', '"\\u00a0\\u200b"'],
    ['😀', '"😀"'],
  ];
  for (const [text, expected] of cases) assert.equal(goQuote(text), expected);
});

test('JSON that is safe inside HTML', () => {
  assert.equal(goJson({ a: '<b> & "c"' }), '{"a":"\\u003cb\\u003e \\u0026 \\"c\\""}');
  assert.deepEqual(JSON.parse(goJson({ a: '<\u2028>' })), { a: '<\u2028>' });
});
