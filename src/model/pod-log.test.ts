import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../base/ids.ts';
import { aPod } from '../testing/pods.ts';
import { podFields, podUidFields } from './pod-log.ts';

test('a desired pod is named by namespace, name and uid', () => {
  const pod = aPod({ name: 'web' });
  assert.deepEqual(podFields(pod), { pod: { namespace: pod.namespace, name: 'web' }, podUID: pod.uid });
});

test('what is unknown is left out', () => {
  assert.deepEqual(podFields({ uid: 'uid-1' }), { podUID: 'uid-1' });
  assert.deepEqual(podFields({ name: 'web' }), { pod: { namespace: '', name: 'web' } });
  assert.deepEqual(podFields({}), {});
});

test('a uid alone is still searchable', () => {
  assert.deepEqual(podUidFields(podUid('uid-1')), { podUID: 'uid-1' });
});
