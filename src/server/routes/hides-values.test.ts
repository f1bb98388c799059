import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hidesValues } from './hides-values.ts';

for (const [listener, isStandalone, hides] of [
  ['readOnly', true, true],
  ['readOnly', false, false],
  ['socket', true, false],
  ['socket', false, false],
  ['secure', true, false],
  ['secure', false, false],
  ['healthz', true, false],
  ['healthz', false, false],
] as const) {
  test(`${listener}, ${isStandalone ? 'alone' : 'in a cluster'}: values are ${hides ? 'masked' : 'shown'}`, () =>
    assert.equal(hidesValues(listener, isStandalone), hides));
}
