import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefusal, refuse } from './refusal.ts';

test('a refusal keeps what a person can read, however long the names in it are', () => {
  assert.deepEqual(refuse('no'), { refusal: { reason: 'CreateContainerConfigError', message: 'no' } });
  const long = refuse(`cannot find volume "${'é'.repeat(100_000)}"`).refusal.message;
  assert.match(long, /^cannot find volume "éé/);
  assert.ok(Buffer.byteLength(long) <= 4_096, `${Buffer.byteLength(long)}`);
});

test('what is none is not taken for one', () => {
  for (const [value, expected] of [
    [refuse('no'), true],
    [{}, false],
    [undefined, false],
    [null, false],
    ['refusal', false],
  ] as const)
    assert.equal(isRefusal(value), expected);
});
