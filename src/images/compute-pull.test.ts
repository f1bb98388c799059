import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computePull } from './compute-pull.ts';

const table: readonly (readonly [policy: string | undefined, present: boolean, decision: string])[] = [
  ['Always', true, 'pull'],
  ['Always', false, 'pull'],
  ['IfNotPresent', true, 'use'],
  ['IfNotPresent', false, 'pull'],
  ['Never', true, 'use'],
  ['Never', false, 'refuse'],
  [undefined, true, 'use'],
  [undefined, false, 'pull'],
];

for (const [policy, present, decision] of table) {
  test(`${policy ?? 'no policy'}, ${present ? 'present' : 'absent'}: ${decision}`, () => {
    assert.equal(computePull(policy, present), decision);
  });
}
