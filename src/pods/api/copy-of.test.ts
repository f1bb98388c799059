import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../gen/kubernetes/types.ts';
import { aPod } from '../../testing/pods.ts';
import { copyOf } from './copy-of.ts';

const mirror: Pod = { metadata: { uid: 'mirror' } };
const mirrors = { of: () => mirror };

test('the copy of a pod is its own object, and that of a static pod its mirror pod', () => {
  const there = (uid: string) => ({ get: (): Pod => ({ metadata: { uid } }) });
  const fromApi = aPod({ uid: 'a', source: 'api' });
  assert.equal(copyOf(fromApi, there('a'), mirrors)?.metadata?.uid, 'a');
  assert.equal(copyOf(fromApi, there('another'), mirrors), undefined);
  assert.equal(copyOf(fromApi, { get: () => undefined }, mirrors), undefined);
  assert.equal(copyOf(aPod(), there('uid-1'), mirrors), mirror);
});
