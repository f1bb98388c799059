import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzz } from '../fuzz/fuzz.ts';

const { TUBELET_FUZZ_SEED: seed = '1', TUBELET_FUZZ_CASES: cases = '250' } = process.env;

/** So many cases have something of everything. */
const enough = 200;

test(`hostile clients: ${cases} connections of seed ${seed}`, { timeout: 110_000 }, async () => {
  const { findings, kinds, statuses } = await fuzz({ seed: Number(seed), cases: Number(cases) });
  const told = findings.map(
    ({ number, problem, transcript }) => `seed ${seed} case ${number ?? '?'}: ${problem}\n    ${transcript}`,
  );
  assert.equal(findings.length, 0, `${told.join('\n')}\nagain: npm run fuzz -- --seed ${seed} --case N`);
  if (Number(cases) < enough) return;
  // Whoever is let in nowhere, or never refused, has not been thrown at anything.
  for (const status of ['200', '400', '401', '404', '405'])
    assert.ok((statuses.get(status) ?? 0) > 0, `no answer was ${status}`);
  assert.ok(kinds.size >= 12, 'most kinds of cases were tried');
});
