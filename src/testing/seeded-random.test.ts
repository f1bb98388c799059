import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from './seeded-random.ts';

const take = (seed: number, count: number) => {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => random.next());
};

test('the same seed gives the same numbers, another seed others', () => {
  assert.deepEqual(take(7, 50), take(7, 50));
  const firsts = new Set([0, 1, 2, -1, 0.5, 2 ** 40, 2 ** 40 + 1].map((seed) => take(seed, 1)[0]));
  assert.equal(firsts.size, 7);
});

test('numbers are spread evenly over [0, 1) and do not follow one another', () => {
  const numbers = take(42, 20_000);
  assert.ok(numbers.every((number) => number >= 0 && number < 1));
  const buckets = Array.from({ length: 20 }, () => 0);
  for (const number of numbers) buckets[Math.floor(number * 20)]! += 1;
  for (const count of buckets) assert.ok(Math.abs(count - 1_000) < 160, `bucket of ${count}`);
  const rising = numbers.filter((number, index) => index > 0 && number > numbers[index - 1]!).length;
  assert.ok(Math.abs(rising - 10_000) < 250, `${rising} rises`);
});

test('hex has the length asked for', () => {
  const random = seededRandom(1);
  assert.match(random.hex(6), /^[0-9a-f]{12}$/);
  assert.equal(random.hex(0), '');
});
