import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../base/ids.ts';
import type { PodSpec } from '../gen/kubernetes/types.ts';
import type { ReferringPod } from './ports.ts';
import { references, referrers } from './references.ts';

const pod = (uid: string, namespace: string, spec: Partial<PodSpec>): ReferringPod => ({
  uid: podUid(uid),
  namespace,
  spec: { containers: [], ...spec },
});
const usesMap = (name: string): Partial<PodSpec> => ({ volumes: [{ name: 'v', configMap: { name } }] });

test('each object once, in the namespace of the pod', () => {
  const spec: Partial<PodSpec> = {
    containers: [{ name: 'c', envFrom: [{ configMapRef: { name: 'm' } }, { secretRef: { name: 'm' } }] }],
    ...usesMap('m'),
  };
  assert.deepEqual(references(pod('1', 'ns', spec)), [
    { kind: 'ConfigMap', namespace: 'ns', name: 'm' },
    { kind: 'Secret', namespace: 'ns', name: 'm' },
  ]);
  assert.deepEqual(references(pod('1', 'ns', {})), []);
});

test('the pods that a change concerns', () => {
  const pods = [
    pod('1', 'ns', usesMap('m')),
    pod('2', 'other', usesMap('m')),
    pod('3', 'ns', usesMap('n')),
    pod('4', 'ns', { imagePullSecrets: [{ name: 'm' }] }),
  ];
  assert.deepEqual(referrers([{ kind: 'ConfigMap', namespace: 'ns', name: 'm' }], pods), ['1']);
  assert.deepEqual(referrers([{ kind: 'Secret', namespace: 'ns', name: 'm' }], pods), ['4']);
  assert.deepEqual(referrers([], pods), []);
});
