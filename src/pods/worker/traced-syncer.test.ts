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
    sync: async () => {
      calls.push('sync');
      return { kind: 'settled' };
    },
    terminate: async () => void calls.push('terminate'),
    terminateOrphan: async () => void calls.push('terminateOrphan'),
    release: async () => void calls.push('release'),
  };
  const { signal } = new AbortController();
  const pod = desiredPod('api', { metadata: { name: 'web', namespace: 'shop', uid: 'u1' }, spec: { containers: [] } });
  const orphan = { kind: 'orphan', uid: podUid('u2'), name: 'left', namespace: 'over' } as const;
  const traced = tracedSyncer(syncer, tracer);
  assert.deepEqual(await traced.sync(pod, signal), { kind: 'settled' });
  await traced.terminate(pod, { graceSeconds: 1 }, signal);
  await traced.terminateOrphan(orphan, 1, signal);
  await traced.release({ kind: 'desired', pod }, signal);
  await traced.release(orphan, signal);
  assert.deepEqual(calls, ['sync', 'terminate', 'terminateOrphan', 'release', 'release']);
  assert.deepEqual(spans, [
    ['syncPod', 'shop/web', 'u1'],
    ['syncTerminatingPod', 'shop/web', 'u1'],
    ['syncTerminatingRuntimePod', 'over/left', 'u2'],
    ['syncTerminatedPod', 'shop/web', 'u1'],
    ['syncTerminatedPod', 'over/left', 'u2'],
  ]);
});
