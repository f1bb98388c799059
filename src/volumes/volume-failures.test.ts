import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TubeletError } from '../base/errors.ts';
import { unableToMount } from './wanted-volumes.ts';
import { reportedFailure, UnprocessedVolumeError, VolumeStepError } from './volume-failures.ts';

test('a failure is reported with its step, volume and causes', () => {
  const cause = new TubeletError('denied', 'no right');
  const { error, reason, isUnprocessed } = reportedFailure('v', new TubeletError('denied', 'cannot', { cause }));
  assert.deepEqual(
    [error.kind, error.message, reason, isUnprocessed],
    ['denied', 'MountVolume.SetUp failed for volume "v" : cannot: no right', 'FailedMount', false],
  );
  const mapped = reportedFailure('v', new VolumeStepError('MapVolume.SetUpDevice failed', 'internal', 'cannot'));
  assert.deepEqual(
    [mapped.error.message, mapped.reason],
    ['MapVolume.SetUpDevice failed for volume "v" : cannot', 'FailedMapVolume'],
  );
});

test('messages are bounded whatever the length of names and paths', () => {
  const long = '😀'.repeat(50_000);
  for (const error of [
    new TubeletError('invalid', `hostPath "${long}"`),
    new UnprocessedVolumeError('invalid', long),
  ]) {
    for (const name of ['v', long]) {
      const { message } = reportedFailure(name, error).error;
      assert.ok(message.length > 1_000 && Buffer.byteLength(message) <= 10 * 1_024, `${Buffer.byteLength(message)}`);
    }
  }
});

test('the reason is seen behind any number of volumes', () => {
  const many = Array.from({ length: 1_000 }, (_, index) => `${'v'.repeat(200)}-${index}`);
  const words = unableToMount(many, many, 'this is why');
  assert.match(words, /: this is why$/);
  assert.ok(Buffer.byteLength(unableToMount(many, many, 'x'.repeat(100_000))) <= 10 * 1_024);
});
