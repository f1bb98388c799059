import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { holdServiceRange } from './service-range.ts';

/** One after the other, and the last again and again. */
const inOrder = (...ranges: readonly string[]): (() => string) => {
  const left = [...ranges];
  return () => (left.length > 1 ? left.shift() : left[0]) ?? '';
};

/**
 * Ranges that no control plane draws, and no other run of this file: one that happened to be drawn meanwhile would not be
 * free. Nobody has an address of 240.0.0.0/4.
 */
const ownRange = (index: number): string =>
  `240.${(process.pid >> 8) & 0xff}.${((process.pid & 0x3f) << 2) + index}.0/24`;

test('two control planes never have the same services, even before a node took the address on', async () => {
  const [a, b] = [ownRange(0), ownRange(1)];
  const one = await holdServiceRange(inOrder(a));
  const two = await holdServiceRange(inOrder(a, a, b));
  assert.deepEqual([one.cidr, one.first, two.cidr], [a, a.replace('0/24', '1'), b]);
  await one.release();
  const three = await holdServiceRange(inOrder(a));
  assert.equal(three.cidr, a);
  await Promise.all([two.release(), three.release()]);
});

test('an address that the machine has, listened at or not, is not taken', async () => {
  const range = await holdServiceRange(inOrder('127.0.0.0/24', ownRange(2)));
  assert.equal(range.cidr, ownRange(2));
  await range.release();
  const server = createServer().listen(0, '127.0.0.1');
  await assert.rejects(holdServiceRange(inOrder('127.0.0.0/24')), /no free range for services/);
  server.close();
});
