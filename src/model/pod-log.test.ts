import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podFullName, podUid } from '../base/ids.ts';
import { aPod } from '../testing/pods.ts';
import { fullNameFields, podFields, podListFields, podUidFields } from './pod-log.ts';

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

test('a full name says namespace and name', () => {
  assert.deepEqual(fullNameFields(podFullName('web-node-1', 'kube-system')), {
    pod: { namespace: 'kube-system', name: 'web-node-1' },
  });
});

test('several pods are a list of what one is called', () => {
  assert.deepEqual(podListFields([aPod({ name: 'web' }), aPod({ name: 'db', namespace: 'data' })]), {
    pods: ['default/web', 'data/db'],
  });
});
