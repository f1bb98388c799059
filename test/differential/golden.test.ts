import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { goldenNames, loadGolden } from '../../src/testing/golden.ts';
import { differencesOf } from './compare.ts';
import { differences, sooner } from './differences.ts';

const names = goldenNames();

describe('a recorded pod, through the real wiring', () => {
  for (const name of names) {
    test(name, async () => {
      const found = await differencesOf(loadGolden(name));
      const listed = differences.filter(({ record }) => record === name).flatMap(({ differs }) => differs);
      const unlisted = found.filter((difference) => !listed.includes(difference));
      assert.deepEqual(unlisted, [], 'differs from the record in ways that the table does not list');
      const gone = listed.filter((difference) => !found.includes(difference));
      assert.deepEqual(gone, [], 'the table lists what does not differ any more: take it out');
    });
  }
});

test('the table names records that there are', () => {
  const unknown = [...differences.map(({ record }) => record), ...sooner.keys()].filter(
    (name) => !names.includes(name),
  );
  assert.deepEqual(unknown, []);
});

test('56 of 57 records agree in full', () => {
  const differing = new Set(differences.map(({ record }) => record));
  assert.deepEqual([names.length - differing.size, names.length], [56, 57]);
});
