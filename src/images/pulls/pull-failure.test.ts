import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import { joinedMessages, pullFailure } from './pull-failure.ts';

test('two kinds of failure have reasons of their own', () => {
  assert.deepEqual(pullFailure('app:1', 'no route to host'), { reason: 'ErrImagePull', message: 'no route to host' });
  assert.deepEqual(pullFailure('app:1', 'RegistryUnavailable: try again later'), {
    reason: 'RegistryUnavailable',
    message: 'image pull failed for app:1 because the registry is unavailable: try again later',
  });
  assert.deepEqual(pullFailure('app:1', 'SignatureValidationFailed'), {
    reason: 'SignatureValidationFailed',
    message: 'image pull failed for app:1 because the signature validation failed',
  });
});

test('several failures are reported together, the same message once', () => {
  const wrapped = new TubeletError('denied', 'pullImage: no', { remoteMessage: 'no' });
  assert.equal(joinedMessages([wrapped, new Error('no')]), 'no');
  assert.equal(joinedMessages([wrapped, new Error('never')]), '[no, never]');
});
