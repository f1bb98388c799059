import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { milliCpuToQuota, milliCpuToShares, sharesToWeight } from './cpu.ts';

const milli = fc.bigInt({ min: 0n, max: 1_000_000n });

test('more CPU never means fewer shares, less weight or a shorter quota', () => {
  fc.assert(
    fc.property(milli, milli, (a, b) => {
      const [low, high] = a < b ? [a, b] : [b, a];
      assert.ok(milliCpuToShares(low) <= milliCpuToShares(high));
      assert.ok(sharesToWeight(milliCpuToShares(low)) <= sharesToWeight(milliCpuToShares(high)));
      assert.ok(milliCpuToQuota(low, 100_000n) <= milliCpuToQuota(high, 100_000n));
    }),
  );
});

test('what the kernel gets is always within its range', () => {
  fc.assert(
    fc.property(milli, (amount) => {
      const shares = milliCpuToShares(amount);
      const weight = sharesToWeight(shares);
      assert.ok(shares >= 2n && shares <= 262_144n && weight >= 1n && weight <= 10_000n);
    }),
  );
});
