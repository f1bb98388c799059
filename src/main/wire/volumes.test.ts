import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canKeepOutOfSwap } from './volumes.ts';

test('memory is kept out of swap by kernels that can', () => {
  const rows: readonly (readonly [string, boolean])[] = [
    ['5.15.0-91-generic', false],
    ['6.3.13', false],
    ['6.4.0', true],
    ['6.18.44-fc', true],
    ['7.0', true],
    ['unknown', false],
  ];
  for (const [kernel, expected] of rows) assert.equal(canKeepOutOfSwap(kernel), expected, kernel);
});
