import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Due } from './due.ts';

test('marks before there is a taker are handed over as one', () => {
  const due = new Due();
  let taken = 0;
  due.mark();
  due.mark();
  due.takenBy(() => void taken++);
  assert.equal(taken, 1);
  due.mark();
  assert.equal(taken, 2);
});

test('without a mark the taker is not called, and there is only one', () => {
  const due = new Due();
  let taken = 0;
  due.takenBy(() => void taken++);
  assert.equal(taken, 0);
  assert.throws(() => due.takenBy(() => {}), /taker already/);
});
