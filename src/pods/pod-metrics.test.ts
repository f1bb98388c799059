import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid, type PodUid } from '../base/ids.ts';
import type { WorkerState } from './worker/index.ts';
import { Registry } from '../telemetry/index.ts';
import { aPod } from '../testing/pods.ts';
import { podMetrics } from './pod-metrics.ts';

test('pods and containers are counted by those who know of them', () => {
  const registry = new Registry();
  const [file, api] = [aPod({ uid: 'a' }), aPod({ uid: 'b', source: 'api' })];
  const states = new Map<PodUid, WorkerState>([
    [file.uid, { phase: 'syncing', pod: file }],
    [api.uid, { phase: 'finished', target: { kind: 'desired', pod: api }, removedFromSource: false }],
    [
      podUid('c'),
      {
        phase: 'terminating',
        target: { kind: 'orphan', uid: podUid('c'), name: 'n', namespace: 'n' },
        graceSeconds: 1,
        removedFromSource: true,
      },
    ],
  ]);
  podMetrics({
    metrics: registry,
    desired: { all: () => [file, api] },
    activePods: { activePods: () => [file] },
    lifecycles: { uids: () => [...states.keys()], stateOf: (uid) => states.get(uid) },
    mirrors: { fullNames: () => ['f_default'] },
    observed: {
      listed: () =>
        new Map([
          [file.uid, { items: [{ state: 'sandbox ready' }, { state: 'running' }, { state: 'exited' }] }],
          [api.uid, { items: [{ state: 'sandbox notReady' }, { state: 'exited' }] }],
        ]),
    },
  });
  const lines = new Set(registry.render().split('\n'));
  for (const line of [
    'kubelet_desired_pods{static=""} 1',
    'kubelet_desired_pods{static="true"} 1',
    'kubelet_active_pods{static=""} 0',
    'kubelet_active_pods{static="true"} 1',
    'kubelet_mirror_pods 1',
    'kubelet_running_pods 1',
    'kubelet_running_containers{container_state="running"} 1',
    'kubelet_running_containers{container_state="exited"} 2',
    'kubelet_working_pods{config="desired",lifecycle="sync",static="true"} 1',
    'kubelet_working_pods{config="desired",lifecycle="terminated",static=""} 1',
    'kubelet_working_pods{config="runtime_only",lifecycle="terminating",static="unknown"} 1',
    'kubelet_working_pods{config="orphan",lifecycle="terminated",static=""} 0',
    'kubelet_managed_ephemeral_containers 0',
  ]) {
    assert.ok(lines.has(line), line);
  }
});
