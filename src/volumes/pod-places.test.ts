import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../base/ids.ts';
import { countPods, dropPod, placeKey } from './pod-places.ts';

test('keys by volume are dropped by pod', () => {
  const places = [
    { uid: podUid('a'), name: 'one' },
    { uid: podUid('a'), name: 'two/three' },
    { uid: podUid('ab'), name: 'one' },
  ];
  const kept = new Map(places.map((place) => [placeKey(place), true]));
  assert.equal(kept.size, 3);
  assert.equal(countPods(kept.keys()), 2);
  dropPod(kept, podUid('a'));
  assert.deepEqual([...kept.keys()], ['ab/one']);
  dropPod(kept, podUid('never-seen'));
  assert.equal(countPods(kept.keys()), 1);
});
