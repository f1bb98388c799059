import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Places } from './places.ts';

test('so many in all, so many for each, and room again when somebody leaves', () => {
  const places = new Places(3, 2);
  const leaveA = places.enter('a');
  assert.ok(leaveA !== undefined && places.enter('a') !== undefined);
  assert.equal(places.enter('a'), undefined);
  const leaveB = places.enter('b');
  assert.ok(leaveB !== undefined);
  assert.equal(places.enter('c'), undefined);
  assert.equal(places.taken, 3);
  leaveA();
  leaveA();
  assert.equal(places.taken, 2);
  assert.ok(places.enter('a') !== undefined);
  assert.equal(places.enter('a'), undefined);
});
