import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podFullName, podUid } from '../../base/ids.ts';
import { StaticPodQueue } from './static-pod-queue.ts';

const web = podFullName('web', 'default');
const db = podFullName('db', 'default');
const [a, b, c] = [podUid('a'), podUid('b'), podUid('c')];

test('the first that is added runs first', () => {
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

test('adding again keeps the place', () => {
  const queue = new StaticPodQueue();
  queue.add(web, a);
  queue.add(web, b);
  queue.add(web, c);
  assert.equal(queue.add(web, b), false);
  assert.equal(queue.add(web, a), true);
  assert.equal(queue.remove(web, a), b);
});

test('a removed waiting pod changes no turn', () => {
  const queue = new StaticPodQueue();
  queue.add(web, a);
  queue.add(web, b);
  queue.add(web, c);
  assert.equal(queue.remove(web, b), undefined);
  assert.equal(queue.remove(web, a), c);
});

test('a pod that was never added can be removed', () => {
  const queue = new StaticPodQueue();
  assert.equal(queue.remove(web, a), undefined);
  queue.add(web, a);
  assert.equal(queue.remove(web, b), undefined);
  assert.equal(queue.add(web, a), true);
});

test('after all were removed, the next runs first again', () => {
  const queue = new StaticPodQueue();
  queue.add(web, a);
  queue.remove(web, a);
  assert.equal(queue.add(web, b), true);
  assert.equal(queue.add(web, a), false);
});
