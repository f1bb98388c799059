import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { ImageFsInfoResponse, ListContainerStatsResponse } from '../gen/cri/api.ts';
import type { PodStats, Summary } from '../model/stats-summary.ts';
import { plain } from '../testing/fake-api-server/json.ts';
import { anInstance, aPod, aSandbox, observedPod } from '../testing/pods.ts';
import { StatsWorld } from '../testing/stats-world.ts';

/** Recorded from a Go kubelet v1.34 on cgroup v1 with containerd 1.6. */
const golden = JSON.parse(readFileSync('test/golden/node/stats-summary.json', 'utf8')) as Summary;
const goldenPod = golden.pods.find(({ volume }) => volume !== undefined);
const { signal } = new AbortController();
const podCgroup = '/kubepods/besteffort/podu1';

/**
 * What the agent reports and the recording does not: containerd 1.6 reported that kubelet no faults of containers, and its cAdvisor did
 * not find the containers of a containerd on another socket, and so neither their networks nor their processes.
 */
const beyondTheRecord = new Set([
  'pods[].containers[].memory.pageFaults',
  'pods[].containers[].memory.majorPageFaults',
  'pods[].network',
  'pods[].process_stats',
]);

/** The pod with volumes of the recording, with the sizes of the recording. */
async function summaryOf(onlyCpuAndMemory = false, pressure = true): Promise<Summary> {
  const world = new StatsWorld();
  const { clock } = world;
  const pod = aPod({ uid: 'u1', name: 'p', namespace: 'cm-3hhgln' });
  const seen = observedPod([aSandbox('s1')], [anInstance('c', { id: 'c1' })], 'u1');
  world.pods = [{ pod, startTime: '2026-11-15T08:01:30Z', seen }];
  for (const path of ['/', podCgroup, `${podCgroup}/c1`]) world.cgroups.set(path, { cpuNs: 1, memory: 1, pids: [7] });
  world.cgroups.set('/kubepods', { limit: 900_000 });
  const eth0 = { name: 'eth0', rxBytes: 1, rxPackets: 1, rxErrors: 0, rxDropped: 0, txBytes: 2 };
  world.networks.set('self', [{ ...eth0, txPackets: 1, txErrors: 0, txDropped: 0 }]);
  const timestamp = BigInt(clock.now()) * 1_000_000n;
  const fsId = { mountpoint: '/var/lib/containerd' };
  const layer = { timestamp, fsId, usedBytes: { value: 45_056n }, inodesUsed: { value: 14n } };
  const images = { timestamp, fsId, usedBytes: { value: 2_977_792n }, inodesUsed: { value: 631n } };
  world.runtime = {
    stats: ListContainerStatsResponse.fromPartial({ stats: [{ attributes: { id: 'c1' }, writableLayer: layer }] }),
    images: ImageFsInfoResponse.fromPartial({ imageFilesystems: [images] }),
  };
  world.logFolders.set('/var/log/pods/cm-3hhgln_p_u1', new Map([['c', { bytes: 4_096, inodes: 1 }]]));
  world.trees.set('/var/lib/kubelet/pods/u1/etc-hosts', { bytes: 4_096, inodes: 1 });
  world.trees.set('/m', { bytes: 12_288, inodes: 5 });
  world.mountPoints.add('/token');
  world.volumes.set('u1', [
    { name: 'm', path: '/m', kind: 'ephemeral' },
    { name: 'kube-api-access-stprw', path: '/token', kind: 'persistent' },
  ]);
  const answer = world.stats({ pressure }).summary({ onlyCpuAndMemory }, signal);
  await clock.advance(200);
  return plain(await answer);
}

/** Every key with the way to it, entries of lists taken together. */
function keysOf(value: unknown, way = ''): readonly string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((entry) => keysOf(entry, `${way}[]`)))];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, below]) => {
    const here = way === '' ? key : `${way}.${key}`;
    return [here, ...keysOf(below, here)];
  });
}

const inRecord = (key: string): boolean => ![...beyondTheRecord].some((beyond) => key.startsWith(beyond));

describe('compared with the recording', () => {
  test('the same keys, in the same order', async () => {
    const ours = await summaryOf();
    const record = { ...golden, pods: [goldenPod] };
    assert.deepEqual(keysOf(ours).filter(inRecord), keysOf(record));
    const beyond = keysOf(ours).filter((key) => beyondTheRecord.has(key));
    assert.deepEqual(new Set(beyond), beyondTheRecord);
  });

  test('the sizes of the pod add up as they did', async () => {
    const { pods } = await summaryOf();
    const sizes = (pod: PodStats | undefined) => ({
      storage: [pod?.['ephemeral-storage']?.usedBytes, pod?.['ephemeral-storage']?.inodesUsed],
      rootfs: [pod?.containers[0]?.rootfs?.usedBytes, pod?.containers[0]?.rootfs?.inodesUsed],
      logs: [pod?.containers[0]?.logs?.usedBytes, pod?.containers[0]?.logs?.inodesUsed],
      volume: [pod?.volume?.[0]?.usedBytes, pod?.volume?.[0]?.inodesUsed],
    });
    assert.deepEqual(sizes(pods[0]), sizes(goldenPod));
  });

  test('times have whole seconds', async () => {
    const times = JSON.stringify(await summaryOf()).matchAll(/"(?:time|startTime)":"([^"]*)"/g);
    for (const [, time] of times) assert.match(time ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });
});

test('CPU and memory alone', async () => {
  const keys = keysOf(await summaryOf(true)).filter((key) => !/\.(cpu|memory|swap)\./.test(key));
  const entry = (way: string): readonly string[] =>
    ['name', 'startTime', 'cpu', 'memory', 'swap'].map((key) => way + key);
  assert.deepEqual(keys, [
    'node',
    'node.nodeName',
    'node.systemContainers',
    ...entry('node.systemContainers[].'),
    'node.startTime',
    'node.cpu',
    'node.memory',
    'node.swap',
    'pods',
    'pods[].podRef',
    'pods[].podRef.name',
    'pods[].podRef.namespace',
    'pods[].podRef.uid',
    'pods[].startTime',
    'pods[].containers',
    ...entry('pods[].containers[].'),
    'pods[].cpu',
    'pods[].memory',
    'pods[].swap',
  ]);
});

test('without the gate no pressure is reported', async () => {
  assert.deepEqual(
    keysOf(await summaryOf(false, false)).filter((key) => key.includes('psi')),
    [],
  );
});
