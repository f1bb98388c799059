import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConcurrencyLimit } from './concurrency-limit.ts';

test('so many in all, so many for each, and room again when one ends', () => {
  const limit = new ConcurrencyLimit(3, 2);
  const leaveA = limit.enter('a');
  assert.ok(leaveA !== undefined && limit.enter('a') !== undefined);
  assert.equal(limit.enter('a'), undefined);
  const leaveB = limit.enter('b');
  assert.ok(leaveB !== undefined);
  assert.equal(limit.enter('c'), undefined);
  assert.equal(limit.taken, 3);
  leaveA();
  leaveA();
  assert.equal(limit.taken, 2);
  assert.ok(limit.enter('a') !== undefined);
  assert.equal(limit.enter('a'), undefined);
});
