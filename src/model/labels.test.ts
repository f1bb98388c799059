import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerLabels, sandboxLabels } from './labels.ts';

const pod = { name: 'p', namespace: 'n', uid: 'u' };

test('own labels are kept, but cannot claim another identity', () => {
  assert.deepEqual(sandboxLabels(pod, { app: 'x', 'io.kubernetes.pod.uid': 'forged' }), {
    app: 'x',
    'io.kubernetes.pod.name': 'p',
    'io.kubernetes.pod.namespace': 'n',
    'io.kubernetes.pod.uid': 'u',
  });
});

test('a container carries the identity of its pod and its own name', () => {
  assert.deepEqual(containerLabels(pod, 'c'), {
    'io.kubernetes.pod.name': 'p',
    'io.kubernetes.pod.namespace': 'n',
    'io.kubernetes.pod.uid': 'u',
    'io.kubernetes.container.name': 'c',
  });
});
