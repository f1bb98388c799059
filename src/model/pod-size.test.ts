import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../gen/kubernetes/types.ts';
import { boundedPod, isPodTooLarge, maxPodBytes, sizeOf, tooLargeAnnotation } from './pod-size.ts';

const small: Pod = {
  metadata: { name: 'p', namespace: 'n', uid: 'u', resourceVersion: '1', labels: { a: 'b' } },
  spec: { containers: [{ name: 'c', image: 'i' }], nodeName: 'here' },
  status: { phase: 'Pending' },
};
const long = 'x'.repeat(maxPodBytes);
const large = (more: Pod = {}): Pod => ({
  ...small,
  ...more,
  metadata: {
    ...small.metadata,
    resourceVersion: '2',
    annotations: { long, 'kubernetes.io/config.mirror': 'm' },
    ...more.metadata,
  },
});
const running = { phase: 'Running', startTime: '2026-01-01T00:00:00Z' };

test('texts count, and values', () => {
  assert.equal(sizeOf('abc'), 35);
  assert.equal(sizeOf({ a: ['b', 1, null] }), 32 * 5 + 2);
  assert.ok(sizeOf(Array.from({ length: 100_000 }, () => 1)) > maxPodBytes);
  assert.ok(sizeOf(large()) > maxPodBytes);
});

test('what is too large: one long text, or very many short ones', () => {
  const list = (length: number) => Array.from({ length }, (_, index) => ({ name: `a${index}` }));
  const spec = { ...small.spec, containers: [{ name: 'c', image: 'i' }] };
  const table: readonly (readonly [string, Pod, boolean])[] = [
    ['usual', small, false],
    ['annotation', large(), true],
    ['hundreds of variables', { ...small, spec: { ...spec, imagePullSecrets: list(1_000) } }, false],
    ['ten thousand secrets', { ...small, spec: { ...spec, imagePullSecrets: list(10_000) } }, true],
    ['a long status', { ...small, status: { message: long } }, false],
    ['remains', boundedPod(large(), undefined), true],
  ];
  for (const [what, pod, expected] of table) assert.equal(isPodTooLarge(pod), expected, what);
});

test('what is kept of a pod', () => {
  const ignored: unknown[] = [];
  const kept = (pod: Pod, previous?: Pod): Pod => boundedPod(pod, previous, (one) => ignored.push(one.metadata?.uid));
  assert.equal(kept(small), small);
  const remains = kept(large({ status: { phase: 'Pending', message: long } }));
  assert.deepEqual(remains, {
    metadata: {
      name: 'p',
      namespace: 'n',
      uid: 'u',
      resourceVersion: '2',
      annotations: {
        [tooLargeAnnotation]: remains.metadata?.annotations?.[tooLargeAnnotation],
        'kubernetes.io/config.mirror': 'm',
      },
    },
    spec: { containers: [], nodeName: 'here' },
    status: { phase: 'Pending' },
  });
  assert.equal(kept(remains), remains, 'asked again it answers the same');
  assert.deepEqual(kept(large({ status: { ...running, phase: 'Failed' } })).spec?.containers, []);
  assert.deepEqual(ignored, []);
});

test('a pod that runs keeps its definition, and still gets its deletion', () => {
  const ignored: unknown[] = [];
  const previous = { ...small, status: running };
  const end = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 5 };
  const now = boundedPod(large({ status: running, metadata: end }), previous, (pod) => ignored.push(pod.metadata?.uid));
  assert.deepEqual(now, { ...previous, metadata: { ...small.metadata, resourceVersion: '2', ...end } });
  assert.deepEqual(ignored, ['u']);
  // After a restart of the agent there is only what the server has.
  const found = large({ status: running });
  assert.equal(boundedPod(found, undefined), found);
});
