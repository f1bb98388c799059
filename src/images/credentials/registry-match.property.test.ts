import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { matchesImage } from './registry-match.ts';

const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 5 });
const host = fc.array(letters, { minLength: 1, maxLength: 3 });
const path = fc.array(letters, { minLength: 1, maxLength: 3 });
const port = fc.constantFrom('', ':80', ':5000');

test('a registry key matches itself and all below it', () => {
  fc.assert(
    fc.property(host, port, path, path, (host, port, path, below) => {
      const place = host.join('.') + port;
      const repository = [place, ...path, ...below].join('/');
      assert.equal(matchesImage(place, repository), true);
      assert.equal(matchesImage([place, ...path].join('/'), repository), true);
    }),
  );
});

test('stars stand for anything within their part, as a slow but plain matcher says too', () => {
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(pattern, letters, (pattern, name) => {
      const plain = new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('?', '.')}$`);
      assert.equal(matchesImage(`${pattern}.example`, `${name}.example/app`), plain.test(name));
    }),
    { numRuns: 1_000 },
  );
});

test('ports and the number of parts always count', () => {
  fc.assert(
    fc.property(host, host, port, port, (left, right, leftPort, rightPort) => {
      const stars = left.map(() => '*').join('.');
      const expected = left.length === right.length && leftPort === rightPort;
      assert.equal(matchesImage(stars + leftPort, `${right.join('.')}${rightPort}/app`), expected);
    }),
  );
});

test('a pattern made to take long does not', () => {
  const pattern = `${'*a'.repeat(2_000)}b.example`;
  assert.equal(matchesImage(pattern, `${'a'.repeat(4_000)}.example/app`), false);
});
