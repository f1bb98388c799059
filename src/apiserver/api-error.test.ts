import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorOfStatus } from './api-error.ts';

test('a patch for another object of that name is a conflict, other invalid fields are invalid', () => {
  const kindFor = (field: string): string =>
    errorOfStatus('PATCH pods default/web', {
      code: 422,
      reason: 'Invalid',
      message: `${field} is invalid`,
      details: { causes: [{ reason: 'FieldValueInvalid', field }] },
    }).kind;
  assert.equal(kindFor('metadata.uid'), 'conflict');
  assert.equal(kindFor('spec.containers'), 'invalid');
});
