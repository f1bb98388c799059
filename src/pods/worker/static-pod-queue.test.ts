import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podFullName, podUid } from '../../base/ids.ts';
import { StaticPodQueue } from './static-pod-queue.ts';

const web = podFullName('web', 'default');
const db = podFullName('db', 'default');
const [a, b, c] = [podUid('a'), podUid('b'), podUid('c')];

test('first come, first served', () => {
  const queue = new StaticPodQueue();
  assert.equal(queue.add(web, a), true);
  assert.equal(queue.add(web, b), false);
  assert.equal(queue.add(web, c), false);
  assert.equal(queue.remove(web, a), b);
  assert.equal(queue.remove(web, b), c);
  assert.equal(queue.remove(web, c), undefined);
});

test('names do not wait for one another', () => {
  const queue = new StaticPodQueue();
  assert.equal(queue.add(web, a), true);
  assert.equal(queue.add(db, b), true);
  assert.equal(queue.remove(web, a), undefined);
});

test('entering again keeps the place', () => {
  const queue = new StaticPodQueue();
  queue.add(web, a);
  queue.add(web, b);
  queue.add(web, c);
  assert.equal(queue.add(web, b), false);
  assert.equal(queue.add(web, a), true);
  assert.equal(queue.remove(web, a), b);
});

test('who gives up waiting changes nobody’s turn', () => {
  const queue = new StaticPodQueue();
  queue.add(web, a);
  queue.add(web, b);
  queue.add(web, c);
  assert.equal(queue.remove(web, b), undefined);
  assert.equal(queue.remove(web, a), c);
});

test('who was never in the line can leave it', () => {
  const queue = new StaticPodQueue();
  assert.equal(queue.remove(web, a), undefined);
  queue.add(web, a);
  assert.equal(queue.remove(web, b), undefined);
  assert.equal(queue.add(web, a), true);
});

test('after everybody left, the next comes first again', () => {
  const queue = new StaticPodQueue();
  queue.add(web, a);
  queue.remove(web, a);
  assert.equal(queue.add(web, b), true);
  assert.equal(queue.add(web, a), false);
});
