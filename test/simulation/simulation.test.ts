import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { simulate } from './simulate.ts';

const defaultSeeds = 100;
const seedsPerTest = 25;

/** `TUBELET_SIM_SEED=7` one seed, `TUBELET_SIM_SEEDS=500` the first so many, `TUBELET_SIM_SEEDS=1000..1999` a range. */
function seeds(): readonly number[] {
  const { TUBELET_SIM_SEED: one, TUBELET_SIM_SEEDS: many = String(defaultSeeds) } = process.env;
  if (one !== undefined) return [Number(one)];
  const [from = 1, to] = many.includes('..') ? many.split('..').map(Number) : [1, Number(many)];
  return Array.from({ length: (to ?? from) - from + 1 }, (_, index) => from + index);
}

describe('simulation', () => {
  const all = seeds();
  for (let at = 0; at < all.length; at += seedsPerTest) {
    const batch = all.slice(at, at + seedsPerTest);
    test(`seeds ${batch[0]} to ${batch.at(-1)}`, async () => {
      for (const seed of batch) await simulate(seed);
    });
  }

  test('a seed tells everything: two runs of it are the same', async () => {
    for (const seed of all.slice(0, 3)) {
      const [first, second] = [await simulate(seed), await simulate(seed)];
      assert.deepEqual(second.lines, first.lines, `seed ${seed}`);
    }
  });
});
