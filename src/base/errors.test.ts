import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeError, isKind, kindOf, TubeletError } from './errors.ts';

test('kindOf: own errors, aborts, strangers', () => {
  assert.equal(kindOf(new TubeletError('notFound', 'gone')), 'notFound');
  assert.equal(kindOf(AbortSignal.abort().reason), 'cancelled');
  assert.equal(kindOf(new Error('x')), 'internal');
  assert.equal(kindOf('text'), 'internal');
  assert.ok(isKind(new TubeletError('timeout', 'late'), 'unavailable', 'timeout'));
});

test('describeError says each cause once', () => {
  const cause = new Error('connection refused');
  const outer = new TubeletError('unavailable', 'cannot reach the runtime', { cause });
  assert.equal(describeError(outer), 'cannot reach the runtime: connection refused');
  assert.equal(describeError(new Error('a: connection refused', { cause })), 'a: connection refused');
});
