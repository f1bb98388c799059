import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptsGzip, acceptsPlainText, parseAccept } from './accept.ts';

const gzip: readonly (readonly [string | undefined, boolean])[] = [
  [undefined, false],
  ['', false],
  ['gzip', true],
  ['GZIP', true],
  ['deflate, gzip;q=0.5', true],
  ['gzip;q=0', false],
  ['gzip;q=nonsense', false],
  ['identity', false],
  ['br,gzipped', false],
];
for (const [header, expected] of gzip) {
  test(`Accept-Encoding ${header}: ${expected}`, () => assert.equal(acceptsGzip(header), expected));
}

const plain: readonly (readonly [string | undefined, boolean])[] = [
  [undefined, true],
  ['', true],
  ['*/*', true],
  ['text/*', true],
  ['text/plain', true],
  ['Text/Plain; charset=UTF-8', true],
  ['text/plain;charset=utf-16', false],
  ['text/plain;version=2', false],
  ['application/json', false],
  ['application/json, text/plain;q=0.1', true],
  ['text/plain;q=0', false],
];
for (const [header, expected] of plain) {
  test(`Accept ${header}: ${expected}`, () => assert.equal(acceptsPlainText(header), expected));
}

test('entries come best first, and much of a hostile header is not read', () => {
  const entries = parseAccept('a/b;q=0.1, c/d;x="y=z" , ,e/f;q=1');
  assert.deepEqual(
    entries.map(({ value }) => value),
    ['c/d', 'e/f', 'a/b'],
  );
  assert.equal(entries[0]?.parameters.get('x'), 'y=z');
  assert.ok(parseAccept('a,'.repeat(1_000_000)).length < 5_000);
});
