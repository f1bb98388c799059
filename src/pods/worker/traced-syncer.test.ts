import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../../base/ids.ts';
import type { Tracer } from '../../base/tracing.ts';
import { desiredPod } from '../../model/desired-pod.ts';
import type { PodSyncer } from './ports.ts';
import { tracedSyncer } from './traced-syncer.ts';

test('each operation on a pod is a span that says which pod', async () => {
  const spans: unknown[] = [];
  const tracer: Tracer = {
    span: (name, { attributes }, work) => {
      spans.push([name, attributes?.['k8s.pod'], attributes?.['k8s.pod.uid']]);
      return work({ traceparent: undefined, set() {} });
    },
  };
  const calls: string[] = [];
  const syncer: PodSyncer = {
    syncPod: async () => {
      calls.push('syncPod');
      return { kind: 'settled' };
    },
    syncTerminatingPod: async () => void calls.push('syncTerminatingPod'),
    syncTerminatingRuntimePod: async () => void calls.push('syncTerminatingRuntimePod'),
    syncTerminatedPod: async () => void calls.push('syncTerminatedPod'),
  };
  const { signal } = new AbortController();
  const pod = desiredPod('api', { metadata: { name: 'web', namespace: 'shop', uid: 'u1' }, spec: { containers: [] } });
  const orphan = { kind: 'orphan', uid: podUid('u2'), name: 'left', namespace: 'over' } as const;
  const traced = tracedSyncer(syncer, tracer);
  assert.deepEqual(await traced.syncPod(pod, signal), { kind: 'settled' });
  await traced.syncTerminatingPod(pod, { graceSeconds: 1 }, signal);
  await traced.syncTerminatingRuntimePod(orphan, 1, signal);
  await traced.syncTerminatedPod({ kind: 'desired', pod }, signal);
  await traced.syncTerminatedPod(orphan, signal);
  assert.deepEqual(calls, [
    'syncPod',
    'syncTerminatingPod',
    'syncTerminatingRuntimePod',
    'syncTerminatedPod',
    'syncTerminatedPod',
  ]);
  assert.deepEqual(spans, [
    ['syncPod', 'shop/web', 'u1'],
    ['syncTerminatingPod', 'shop/web', 'u1'],
    ['syncTerminatingRuntimePod', 'over/left', 'u2'],
    ['syncTerminatedPod', 'shop/web', 'u1'],
    ['syncTerminatedPod', 'over/left', 'u2'],
  ]);
});
