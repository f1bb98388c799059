import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  milliCpuToQuota,
  milliCpuToShares,
  quotaToMilliCpu,
  sharesToMilliCpu,
  sharesToWeight,
  weightToShares,
} from './cpu.ts';

test('shares', () => {
  const cases: readonly (readonly [bigint, bigint])[] = [
    [0n, 2n],
    [1n, 2n],
    [2n, 2n],
    [100n, 102n],
    [250n, 256n],
    [1500n, 1536n],
    [256_000n, 262_144n],
    [1_000_000n, 262_144n],
  ];
  for (const [milli, shares] of cases) assert.equal(milliCpuToShares(milli), shares, String(milli));
});

test('quota', () => {
  assert.equal(milliCpuToQuota(0n, 100_000n), 0n);
  assert.equal(milliCpuToQuota(1n, 100_000n), 1000n);
  assert.equal(milliCpuToQuota(200n, 100_000n), 20_000n);
  assert.equal(milliCpuToQuota(1500n, 10_000n), 15_000n);
});

test('weight', () => {
  assert.equal(sharesToWeight(0n), 1n);
  assert.equal(sharesToWeight(2n), 1n);
  assert.equal(sharesToWeight(1024n), 39n);
  assert.equal(sharesToWeight(262_144n), 10_000n);
});

test('amounts that the kernel holds, read back', () => {
  assert.equal(weightToShares(1n), 2n);
  assert.equal(weightToShares(39n), 998n, 'of one CPU');
  assert.equal(weightToShares(10_000n), 262_144n);
  assert.equal(sharesToMilliCpu(102n), 100n);
  assert.equal(sharesToMilliCpu(1n), 0n);
  assert.equal(quotaToMilliCpu(12_345n, 100_000n), 123n);
  assert.equal(quotaToMilliCpu(-1n, 100_000n), 0n, 'no limit');
});
