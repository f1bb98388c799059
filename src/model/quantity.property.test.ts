import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Quantity } from './quantity.ts';

const decimalSuffix = fc.constantFrom('n', 'u', 'm', '', 'k', 'M', 'G', 'e3', 'E-3', 'e0');
const binarySuffix = fc.constantFrom('Ki', 'Mi', 'Gi', 'Ti');
const small = fc.integer({ min: -1_000_000, max: 1_000_000 });
const fraction = fc.constantFrom('', '.5', '.25', '.001');
const anyText = fc.oneof(
  fc.tuple(small, fraction, decimalSuffix).map((parts) => parts.join('')),
  fc.tuple(small, binarySuffix).map((parts) => parts.join('')),
);

test('parsing the canonical text gives the same amount and the same text', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const quantity = Quantity.parse(text);
      const again = Quantity.parse(quantity.toString());
      assert.equal(again.compare(quantity), 0);
      assert.equal(again.toString(), quantity.toString());
    }),
  );
});

test('order agrees with the numbers', () => {
  fc.assert(
    fc.property(small, small, decimalSuffix, (left, right, suffix) => {
      const compared = Quantity.parse(`${left}${suffix}`).compare(Quantity.parse(`${right}${suffix}`));
      assert.equal(compared, Math.sign(left - right));
    }),
  );
});

test('adding and taking away again changes nothing; sums do not depend on order', () => {
  fc.assert(
    fc.property(anyText, anyText, (left, right) => {
      const [a, b] = [Quantity.parse(left), Quantity.parse(right)];
      assert.equal(a.add(b).sub(b).compare(a), 0);
      assert.equal(a.add(b).compare(b.add(a)), 0);
      assert.equal(a.sub(b).sign(), a.compare(b));
    }),
  );
});

test('rounding goes up by less than one', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n }), (milli) => {
      const quantity = Quantity.ofMilli(milli);
      assert.equal(quantity.milliValue(), milli);
      assert.ok(quantity.value() * 1000n - milli < 1000n && quantity.value() * 1000n >= milli);
    }),
  );
});

test('arbitrary text either parses or is refused as invalid', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0123456789.+-eEKMGTPinumk '.split('')) }), (text) => {
      try {
        Quantity.parse(Quantity.parse(text).toString());
      } catch (error) {
        assert.match(String(error), /invalid quantity/);
      }
    }),
  );
});
