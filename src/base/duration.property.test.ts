import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Duration } from './duration.ts';

test('every duration survives being printed and read', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }), (nanos) => {
      const duration = Duration.ofNanos(nanos);
      assert.equal(Duration.parse(duration.toString()).nanos, nanos);
    }),
  );
});

test('arbitrary text either parses or is refused as invalid', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0123456789.+-hmsnu'.split('')) }), (text) => {
      try {
        const printed = Duration.parse(text).toString();
        assert.equal(Duration.parse(printed).toString(), printed);
      } catch (error) {
        assert.match(String(error), /invalid duration/);
      }
    }),
  );
});
