import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TubeletError } from './errors.ts';
import { maskError, maskSecrets, secretTexts } from './mask-errors.ts';

test('values are masked by themselves and quoted, the longer first, and not where they are too short', () => {
  const secrets = secretTexts(['open-sesame', 'open-sesame-"2"', 'true', '']);
  assert.deepEqual(secrets, ['open-sesame-\\"2\\"', 'open-sesame-"2"', 'open-sesame']);
  assert.equal(
    maskSecrets('true: open-sesame, "open-sesame-\\"2\\"", open-sesame-"2"', secrets),
    'true: <masked>, "<masked>", <masked>',
  );
});

const secrets = secretTexts(['open-sesame']);

test('an error keeps its kind, code and remote message, without secrets', () => {
  const error = new TubeletError('denied', 'call: no open-sesame', {
    remoteMessage: 'no open-sesame',
    code: 'Unknown',
  });
  const masked = maskError(error, secrets) as TubeletError;
  assert.deepEqual(
    [masked.kind, masked.message, masked.remoteMessage, masked.code, masked.cause],
    ['denied', 'call: no <masked>', 'no <masked>', 'Unknown', undefined],
  );
});

test('what is secret is found in causes, and in errors of the engine', () => {
  const cause = new Error("ENOTDIR: not a directory, open '/v/open-sesame'");
  assert.equal((maskError(cause, secrets) as TubeletError).message, "ENOTDIR: not a directory, open '/v/<masked>'");
  const masked = maskError(new TubeletError('conflict', 'cannot be bound', { cause }), secrets) as TubeletError;
  assert.deepEqual([masked.kind, masked.message, masked.cause], ['conflict', 'cannot be bound', undefined]);
});

test('any other error, and what is none, stays what it is', () => {
  const error = new TubeletError('internal', 'no such image', { cause: new Error('at all') });
  assert.equal(maskError(error, secrets), error);
  assert.equal(maskError('open-sesame', secrets), 'open-sesame');
});
