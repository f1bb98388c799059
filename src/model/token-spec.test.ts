import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '../testing/pods.ts';
import { tokenSpecs } from './token-spec.ts';

test('every token projection of every volume, with what it leaves out filled in', () => {
  const volumes = [
    { name: 'scratch', emptyDir: {} },
    {
      name: 'api-access',
      projected: {
        sources: [{ serviceAccountToken: { path: 'token' } }, { configMap: { name: 'kube-root-ca.crt' } }],
      },
    },
    {
      name: 'vault',
      projected: { sources: [{ serviceAccountToken: { path: 't', audience: 'vault', expirationSeconds: 600 } }] },
    },
  ];
  const pod = aPod({ spec: { serviceAccountName: 'robot', volumes } });
  const common = { namespace: pod.namespace, serviceAccount: 'robot', pod: { name: pod.name, uid: pod.uid } };
  assert.deepEqual(tokenSpecs(pod), [
    { ...common, audiences: [], expirationSeconds: 3_600 },
    { ...common, audiences: ['vault'], expirationSeconds: 600 },
  ]);
});

test('a pod without any wants none', () => {
  assert.deepEqual(tokenSpecs(aPod()), []);
});
