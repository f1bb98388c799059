import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podFullName, podUid } from '../../base/ids.ts';
import { StaticTurns } from './static-turns.ts';

const web = podFullName('web', 'default');
const db = podFullName('db', 'default');
const [a, b, c] = [podUid('a'), podUid('b'), podUid('c')];

test('first come, first served', () => {
  const turns = new StaticTurns();
  assert.equal(turns.enter(web, a), true);
  assert.equal(turns.enter(web, b), false);
  assert.equal(turns.enter(web, c), false);
  assert.equal(turns.leave(web, a), b);
  assert.equal(turns.leave(web, b), c);
  assert.equal(turns.leave(web, c), undefined);
});

test('names do not wait for one another', () => {
  const turns = new StaticTurns();
  assert.equal(turns.enter(web, a), true);
  assert.equal(turns.enter(db, b), true);
  assert.equal(turns.leave(web, a), undefined);
});

test('entering again keeps the place', () => {
  const turns = new StaticTurns();
  turns.enter(web, a);
  turns.enter(web, b);
  turns.enter(web, c);
  assert.equal(turns.enter(web, b), false);
  assert.equal(turns.enter(web, a), true);
  assert.equal(turns.leave(web, a), b);
});

test('who gives up waiting changes nobody’s turn', () => {
  const turns = new StaticTurns();
  turns.enter(web, a);
  turns.enter(web, b);
  turns.enter(web, c);
  assert.equal(turns.leave(web, b), undefined);
  assert.equal(turns.leave(web, a), c);
});

test('who was never in the line can leave it', () => {
  const turns = new StaticTurns();
  assert.equal(turns.leave(web, a), undefined);
  turns.enter(web, a);
  assert.equal(turns.leave(web, b), undefined);
  assert.equal(turns.enter(web, a), true);
});

test('after everybody left, the next comes first again', () => {
  const turns = new StaticTurns();
  turns.enter(web, a);
  turns.leave(web, a);
  assert.equal(turns.enter(web, b), true);
  assert.equal(turns.enter(web, a), false);
});
