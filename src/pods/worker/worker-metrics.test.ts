import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heartbeats } from '../../base/heartbeats.ts';
import { podUid } from '../../base/ids.ts';
import { noDecisions } from '../../testing/no-decisions.ts';
import { Registry } from '../../telemetry/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { aPod } from '../../testing/pods.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { PodLifecycles } from './pod-lifecycles.ts';
import { PodWorkers } from './pod-workers.ts';

test('operations, orphans and new lives are measured', async () => {
  const clock = new FakeClock();
  const registry = new Registry();
  const settle = async (): Promise<void> => clock.sleep(500);
  const workers: PodWorkers = new PodWorkers({
    heartbeats: new Heartbeats(),
    clock,
    random: seededRandom(1),
    log: new MemoryLog(),
    decisions: noDecisions,
    syncer: {
      syncPod: async () => ({ kind: 'settled' }),
      syncTerminatingPod: settle,
      syncTerminatingRuntimePod: settle,
      syncTerminatedPod: async () => {},
    },
    lifecycles: new PodLifecycles(),
    resyncMs: 60_000,
    onChange: () => {},
    onPodRecreated: (pod) => workers.updatePod(pod),
    metrics: registry,
  });
  await workers.start();
  for (const kind of ['', 'true']) {
    assert.match(registry.render(), new RegExp(`^kubelet_restarted_pods_total\\{static="${kind}"\\} 0$`, 'm'));
  }
  const pod = aPod();
  workers.updatePod(pod);
  await clock.advance(1);
  workers.wake(pod.uid);
  await clock.advance(1);
  workers.updatePod(aPod({ metadata: { labels: { changed: 'yes' } } }));
  await clock.advance(1);
  workers.remove(pod.uid);
  workers.updatePod(pod);
  workers.adoptOrphan({ uid: podUid('lost'), name: 'lost', namespace: 'n' });
  await clock.advance(1_000);
  workers.forget(pod.uid);
  await clock.advance(1);
  const page = registry.render();
  const counts = new Map(
    [...page.matchAll(/^(\S+?)(?:_count)?(\{.*\})? (\d+)$/gm)].map((m) => [`${m[1]}${m[2] ?? ''}`, m[3]]),
  );
  const operations = (type: string) => counts.get(`kubelet_pod_worker_duration_seconds{operation_type="${type}"}`);
  assert.deepEqual(['create', 'sync', 'update', 'kill', 'terminated'].map(operations), ['2', '1', '1', '2', '2']);
  assert.equal(counts.get('kubelet_orphaned_runtime_pods_total'), '1');
  assert.equal(counts.get('kubelet_restarted_pods_total{static="true"}'), '1');
  assert.equal(counts.get('kubelet_pod_worker_start_duration_seconds'), '2');
  assert.equal(counts.get('kubelet_containers_per_pod_count'), '2');
  await workers.stop();
});
