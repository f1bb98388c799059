import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kindNames } from '../fuzz/manifests/cases.ts';
import { fuzzManifests } from '../fuzz/manifests/fuzz.ts';

const { TUBELET_FUZZ_SEED: seed = '1', TUBELET_FUZZ_CASES: cases = '250' } = process.env;

/** So many cases have something of everything. */
const enough = 200;

test(`hostile manifests: ${cases} cases of seed ${seed}`, { timeout: 110_000 }, async () => {
  const report = await fuzzManifests({ seed: Number(seed), cases: Number(cases) });
  const found = report.findings.map(
    ({ number, kind, problem }) => `seed ${seed} case ${number ?? '?'} (${kind}): ${problem}`,
  );
  assert.deepEqual(found, [], `again: npm run fuzz -- --manifests --seed ${seed} --case N`);
  if (Number(cases) < enough) return;
  assert.deepEqual([...report.kinds.keys()].toSorted(), [...kindNames].toSorted(), 'every kind of case was tried');
  // Cases that are all refused at the door, or never, reach nothing behind it.
  assert.ok(report.taken > Number(cases) / 4, `${report.taken} cases had pods that were taken`);
  assert.ok(report.refused > Number(cases) / 4, `${report.refused} cases had files that were refused`);
});
