import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../base/ids.ts';
import type { ObservedPod } from '../model/observed-pod.ts';
import { aPod } from '../testing/pods.ts';
import { SeenPods } from './seen-pods.ts';

test('a pod is in the values when it is wanted here and something of it runs', () => {
  const wanted = aPod({ uid: 'wanted', name: 'wanted' });
  const observed = (uid: string): ObservedPod => ({ uid: podUid(uid) }) as ObservedPod;
  const pods = new SeenPods({
    seen: () => [observed('orphan'), observed('wanted')],
    desired: (uid) => (uid === wanted.uid ? wanted : undefined),
    startTime: () => '2026-11-15T08:00:00Z',
  });
  assert.deepEqual(pods.all(), [{ pod: wanted, startTime: '2026-11-15T08:00:00Z', seen: observed('wanted') }]);
});
