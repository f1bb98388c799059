import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../base/ids.ts';
import type { ObservedPod } from '../model/observed-pod.ts';
import { PodRemoval } from '../model/pod-removal.ts';
import { Registry } from '../telemetry/index.ts';
import { aContainer, aPod } from '../testing/pods.ts';
import { StatsWorld, testLayout } from '../testing/stats-world.ts';
import { createStats, type StatsParts } from './create-stats.ts';
import { commonPorts } from '../testing/common-ports.ts';

const never = new AbortController().signal;
const uid = podUid('u1');
const pod = aPod({
  uid,
  name: 'web',
  namespace: 'shop',
  spec: { containers: [aContainer('main')], volumes: [{ name: 'scratch', emptyDir: {} }] },
});
const seen = {
  uid,
  sandboxes: [{ id: 's1', state: 'ready', createdAt: 0, network: 'pod' }],
  containers: [{ state: 'running', name: 'main', id: 'c1', image: 'i', createdAt: 0 }],
} as unknown as ObservedPod;

function world(): { machine: StatsWorld; registry: Registry; podRemoval: PodRemoval; parts: StatsParts } {
  const machine = new StatsWorld();
  const registry = new Registry();
  const podRemoval = new PodRemoval(machine.log);
  const host = machine.deps();
  const pods = `/kubepods/besteffort/pod${uid}`;
  machine.cgroups.set('/', { cpuNs: 1 }).set('/tubelet', { cpuNs: 5 });
  machine.cgroups.set(pods, { cpuNs: 2, pids: [7] }).set(`${pods}/c1`, { cpuNs: 2, pids: [8] });
  machine.cgroups.set(`${pods}/s1`, { pids: [9] });
  machine.logFolders.set(`/var/log/pods/shop_web_${uid}`, new Map([['main', { bytes: 4_096, inodes: 1 }]]));
  machine.trees.set('/scratch', { bytes: 100, inodes: 2 });
  const { kubeletCgroups: _, ...cgroupLayout } = testLayout;
  const parts = createStats({
    ports: commonPorts({ clock: machine.clock, random: host.random, log: machine.log, metrics: registry }),
    settings: { ...host.settings, podLogsDir: '/var/log/pods', cgroupLayout },
    podRemoval,
    host,
    runtime: host.runtime,
    agentCgroup: { path: () => '/tubelet' },
    pods: { seen: () => [seen], desired: () => pod, startTime: () => undefined },
    volumes: { mounted: () => new Map([['scratch', { hostPath: '/scratch' }]]) },
    drivers: host.drivers,
    page: registry,
  });
  return { machine, registry, podRemoval, parts };
}

test('pages are made of the pods that run, their volumes and the cgroup that the agent is in', async () => {
  const { machine, registry, parts } = world();
  const whole = parts.stats.summary({ onlyCpuAndMemory: false }, never);
  await machine.clock.advance(1_000);
  const { node, pods } = await whole;
  assert.deepEqual(node.systemContainers?.map(({ name }) => name).toSorted(), ['kubelet']);
  const [web] = [...pods];
  assert.deepEqual([web?.podRef.name, web?.volume?.[0]?.usedBytes], ['web', 100]);
  const page = await registry.page();
  assert.match(page, /^kubelet_container_log_filesystem_used_bytes\{.*pod="web".*\} 4096$/m);
  assert.match(page, /^kubelet_volume_metric_collection_duration_seconds_count\{metric_source="du"\} 1$/m);
  assert.ok((await parts.usageForPage('everything', never))?.cgroups.some(({ owner }) => owner?.pod === 'web'));
  for (const component of parts.components) await component.stop();
});

test('nothing is remembered of a pod that was removed', async () => {
  const { machine, podRemoval, parts } = world();
  const whole = parts.stats.summary({ onlyCpuAndMemory: false }, never);
  await machine.clock.advance(1_000);
  await whole;
  assert.deepEqual(
    [...podRemoval.sizes()],
    [
      ['stats/disk-stats', 1],
      ['stats/volume-usages', 1],
    ],
  );
  podRemoval.podRemoved(uid);
  assert.deepEqual([...podRemoval.sizes().values()], [0, 0]);
  for (const component of parts.components) await component.stop();
});
