import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CpuRates } from './cpu-rates.ts';

function round(rates: CpuRates, atMs: number, totals: Readonly<Record<string, number>>, ageMs?: number) {
  rates.begin();
  const taken = Object.entries(totals).map(([path, totalNs]) => rates.take(path, totalNs, atMs, ageMs));
  rates.end(atMs);
  return taken;
}

test('what was used between two rounds, per second', () => {
  const rates = new CpuRates();
  assert.equal(rates.roundAtMs, undefined);
  assert.deepEqual(round(rates, 0, { a: 1e9 }), [0]);
  assert.deepEqual(round(rates, 10_000, { a: 6e9 }), [500_000_000]);
  assert.deepEqual(round(rates, 20_000, { a: 6e9 }), [0]);
  assert.equal(rates.roundAtMs, 20_000);
});

test('rounds too near to one another return the rate of the one before', () => {
  const rates = new CpuRates();
  round(rates, 0, { a: 0 });
  assert.deepEqual(round(rates, 1_000, { a: 1e9 }), [1e9]);
  assert.deepEqual(round(rates, 1_050, { a: 1e9 }), [1e9]);
  // The time that was too short is not lost.
  assert.deepEqual(round(rates, 2_000, { a: 1.5e9 }), [5e8]);
});

test('a cgroup that is new has used all since it was made', () => {
  const rates = new CpuRates();
  round(rates, 0, { a: 0 });
  assert.deepEqual(round(rates, 10_000, { a: 0, b: 1e9 }, 4_000), [0, 250_000_000]);
  assert.deepEqual(round(rates, 20_000, { c: 1e9 }, 10), [0]);
});

test('one that counts from the beginning again is new', () => {
  const rates = new CpuRates();
  round(rates, 0, { a: 9e9 });
  assert.deepEqual(round(rates, 1_000, { a: 1e9 }, 2_000), [5e8]);
});

test('what a round did not see is forgotten', () => {
  const rates = new CpuRates();
  round(rates, 0, { a: 0 });
  round(rates, 1_000, {});
  assert.deepEqual(round(rates, 2_000, { a: 1e9 }), [0]);
});
