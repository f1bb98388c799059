import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstRecordBytes } from './client-hello.ts';

test('how long the first record is', () => {
  const table: readonly (readonly [string, number | undefined])[] = [
    ['', 5],
    ['16', 5],
    ['160301', 5],
    ['1603010200', 5 + 512],
    ['1603010200aabb', 5 + 512],
    ['1603014000', 5 + 16_384],
    ['1603014001', undefined],
    ['15', undefined],
    ['47', undefined],
  ];
  for (const [start, wanted] of table) assert.equal(firstRecordBytes(Buffer.from(start, 'hex')), wanted, start);
});
