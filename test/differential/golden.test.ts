import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { goldenNames, loadGolden, type GoldenSet } from '../../src/testing/golden.ts';
import { differencesOf } from './compare.ts';
import { differences, sooner } from './differences.ts';

const sets: readonly GoldenSet[] = ['pods', 'more'];
const names = sets.flatMap((set) => goldenNames(set));

for (const set of sets) {
  describe(`a recorded pod of ${set}, through the real wiring`, () => {
    for (const name of goldenNames(set)) {
      test(name, async () => {
        const found = await differencesOf(loadGolden(name, set));
        const listed = differences.filter(({ record }) => record === name).flatMap(({ differs }) => differs);
        const unlisted = found.filter((difference) => !listed.includes(difference));
        assert.deepEqual(unlisted, [], 'differs from the record in ways that the table does not list');
        const gone = listed.filter((difference) => !found.includes(difference));
        assert.deepEqual(gone, [], 'the table lists what does not differ any more: take it out');
      });
    }
  });
}

test('the table names records that there are, and each name is in one set', () => {
  assert.equal(new Set(names).size, names.length);
  const unknown = [...differences.map(({ record }) => record), ...sooner.keys()].filter(
    (name) => !names.includes(name),
  );
  assert.deepEqual(unknown, []);
});

test('56 of the 57 given records agree in full', () => {
  const given = goldenNames();
  const differing = new Set(differences.map(({ record }) => record).filter((name) => given.includes(name)));
  assert.deepEqual([given.length - differing.size, given.length], [56, 57]);
});
