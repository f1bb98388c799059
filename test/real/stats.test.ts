import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { noCalls } from '../../src/base/calls.ts';
import { podUid } from '../../src/base/ids.ts';
import { systemRandom } from '../../src/base/system-random.ts';
import { connectCri, type Cri } from '../../src/cri/index.ts';
import { silentLog } from '../../src/base/log.ts';
import { HostCgroupUsage } from '../../src/host/cgroup-usage.ts';
import { ForeignStorage } from '../../src/host/foreign-storage.ts';
import { HostDisk } from '../../src/host/disk-usage.ts';
import { HostVolumeDisks } from '../../src/host/volume-disks.ts';
import { cgroupHierarchies, readMachineInfo } from '../../src/host/index.ts';
import { readMachineFacts } from '../../src/host/machine-facts.ts';
import { HostProcUsage } from '../../src/host/proc-usage.ts';
import { desiredPod } from '../../src/model/desired-pod.ts';
import { podPaths, type PodPaths } from '../../src/model/pod-paths.ts';
import type { PodStats, Summary } from '../../src/model/stats-summary.ts';
import { ObservedPods } from '../../src/pods/pleg/index.ts';
import { Stats, type SeenPod } from '../../src/stats/index.ts';
import { RealNode } from '../support/real-node.ts';
import { podOf, saidBy, shell } from '../support/real-pods.ts';
import { clock, until } from '../support/real-wait.ts';

/** What pods use by our word, beside what the kernel and the disk say of them. */
const mega = 1 << 20;
const { signal } = new AbortController();
const { cgroupVersion: version } = readMachineInfo();
/** Burns a fifth of a processor, holds memory, writes to its layer, a volume and its log, and then says so. */
const busy = [
  'held=$(head -c 16777216 /dev/zero | tr "\\0" a)',
  'head -c 3145728 /dev/zero > /layer',
  'head -c 5242880 /dev/zero > /scratch/file',
  'head -c 1048576 /dev/zero > /memory/file',
  'echo ready',
  'trap "exit 0" TERM',
  'while true; do :; done',
].join('\n');

let node: RealNode;
let cri: Cri;
let paths: PodPaths;
let stats: Stats;
let pods: readonly SeenPod[] = [];

before(async () => {
  node = await RealNode.start('stats');
  const { containerRuntimeEndpoint } = JSON.parse(readFileSync(node.names.kubeletConfig, 'utf8')) as {
    readonly containerRuntimeEndpoint: string;
  };
  cri = connectCri({
    calls: noCalls,
    endpoint: containerRuntimeEndpoint,
    clock,
    log: silentLog,
    timeouts: { requestMs: 60_000 },
  });
  paths = podPaths(node.names.kubeletRoot, node.names.podLogs);
  const limits = { cpu: '200m', memory: '64Mi' };
  node.put(
    'busy',
    podOf('busy', {
      terminationGracePeriodSeconds: 1,
      containers: [
        shell('main', node.image, busy, {
          resources: { limits },
          volumeMounts: [
            { name: 'scratch', mountPath: '/scratch' },
            { name: 'memory', mountPath: '/memory' },
          ],
        }),
      ],
      volumes: [
        { name: 'scratch', emptyDir: {} },
        { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '8Mi' } },
      ],
    }),
  );
  node.put('host', podOf('host', { hostNetwork: true, containers: [shell('main', node.image, 'sleep 600')] }));
  await node.workingAgent();
  pods = await Promise.all(['busy', 'host'].map(seenPod));
  const [{ pod } = assert.fail('no pod')] = pods;
  await until('it has written all', () => saidBy(node, { metadata: pod.metadata }, 'main').includes('ready'));
  stats = await makeStats();
});
after(async () => {
  await stats?.stop();
  cri?.close();
  await node?.destroy();
});

async function seenPod(name: string): Promise<SeenPod> {
  const found = await node.readyPod(name);
  const pod = desiredPod('file', found);
  const seen = await new ObservedPods({ runtime: cri }).inspect(pod.uid, signal);
  return { pod, startTime: found.status?.startTime, seen };
}

async function makeStats(): Promise<Stats> {
  return new Stats({
    clock,
    random: systemRandom(),
    log: silentLog,
    settings: {
      nodeName: 'node-1',
      rootDir: node.names.kubeletRoot,
      cgroupLayout: {
        cgroupRoot: node.names.cgroupRoot,
        cgroupDriver: 'cgroupfs',
        cgroupsPerQos: true,
        kubeletCgroups: '',
        runtimeCgroups: '',
        systemCgroups: '',
      },
      pressure: true,
      volumePeriodMs: 1_000,
    },
    paths,
    facts: await readMachineFacts(),
    cgroups: HostCgroupUsage.open({ clock, version, pressure: true }),
    machine: new HostProcUsage(),
    disk: new HostDisk(clock),
    drivers: { volumeUsage: async () => undefined },
    volumeMeasured: () => {},
    volumeDisks: new HostVolumeDisks({
      clock,
      storage: new ForeignStorage({
        calls: noCalls,
        clock,
        log: silentLog,
        rootDir: node.names.kubeletRoot,
        onAnswer: () => undefined,
      }),
    }),
    runtime: cri,
    pods: { all: () => pods },
    volumesOf: (uid) =>
      uid === pods[0]?.pod.uid
        ? (['scratch', 'memory'] as const).map((name) => ({
            name,
            path: paths.volume(podUid(uid), 'kubernetes.io~empty-dir', name),
            kind: name === 'scratch' ? 'ephemeral' : 'persistent',
          }))
        : [],
  });
}

const ask = (): Promise<Summary> => stats.summary({ onlyCpuAndMemory: false }, signal);

/** A later summary than any before: they are kept for a second. */
async function askAnew(): Promise<Summary> {
  await clock.sleep(1_010);
  return ask();
}

function podNamed(summary: Summary, name: string): PodStats {
  const found = summary.pods.find(({ podRef }) => podRef.name === `${name}-node-1`);
  return found ?? assert.fail(`no ${name} in ${JSON.stringify(summary.pods)}`);
}

/** A file of the pod's cgroup, or of one below it. */
function cgroupFile(name: string, below: string, controller: string, file: string): string {
  const index = name === 'busy' ? 0 : 1;
  const { pod, seen } = pods[index] ?? assert.fail(name);
  const tier = index === 0 ? '' : '/besteffort';
  const id = below === '' ? '' : `/${seen.containers.find((container) => container.name === below)?.id}`;
  const root = cgroupHierarchies().find(
    (tree) => tree.version === version && (version === 2 || tree.controllers.includes(controller)),
  )?.root;
  return readFileSync(join(root ?? '', node.names.cgroupRoot, `kubepods${tier}/pod${pod.uid}${id}`, file), 'utf8');
}

const cpuNanos = (below: string): number =>
  version === 1
    ? Number(cgroupFile('busy', below, 'cpuacct', 'cpuacct.usage'))
    : Number(/usage_usec (\d+)/.exec(cgroupFile('busy', below, 'cpu', 'cpu.stat'))?.[1]) * 1_000;
const memoryBytes = (below: string): number =>
  Number(cgroupFile('busy', below, 'memory', version === 1 ? 'memory.usage_in_bytes' : 'memory.current'));

function assertBetween(value: number | undefined, low: number, high: number, what: string): void {
  assert.ok(value !== undefined && value >= low && value <= high, `${what}: ${value} is not in ${low}…${high}`);
}

describe('a pod that is busy', () => {
  test('CPU lies between what the kernel said before and after, and the rate is that of its quota', async () => {
    await askAnew();
    await clock.sleep(2_000);
    const before = [cpuNanos('main'), cpuNanos('')] as const;
    const pod = podNamed(await askAnew(), 'busy');
    const after = [cpuNanos('main'), cpuNanos('')] as const;
    assertBetween(pod.containers[0]?.cpu?.usageCoreNanoSeconds, before[0], after[0], 'container');
    assertBetween(pod.cpu?.usageCoreNanoSeconds, before[1], after[1], 'pod');
    // Its quota is 0.2; a busy machine may give it less.
    assertBetween(pod.containers[0]?.cpu?.usageNanoCores, 20_000_000, 230_000_000, 'rate');
    assert.ok((pod.cpu?.usageNanoCores ?? 0) > 0);
  });

  test('memory: what it holds, and what is left up to its limit', async () => {
    const before = memoryBytes('main');
    const pod = podNamed(await askAnew(), 'busy');
    const { memory } = pod.containers[0] ?? {};
    assertBetween(memory?.usageBytes, before - 2 * mega, memoryBytes('main') + 2 * mega, 'usage');
    assertBetween(memory?.rssBytes, 16 * mega, 64 * mega, 'rss');
    assertBetween(memory?.workingSetBytes, 16 * mega, 64 * mega, 'working set');
    assert.equal((memory?.availableBytes ?? 0) + (memory?.workingSetBytes ?? 0), 64 * mega);
    assert.ok((memory?.pageFaults ?? 0) > 4_000);
    assert.ok((pod.memory?.usageBytes ?? 0) >= (memory?.rssBytes ?? 0));
    assert.equal(pod.process_stats?.process_count, 1);
  });

  test('disks: its layer, its log, its volumes, and the sum of them', async () => {
    // The runtime looks at layers every ten seconds.
    const pod = await until(
      'the runtime has seen the layer',
      async () => {
        const found = podNamed(await ask(), 'busy');
        return (found.containers[0]?.rootfs?.usedBytes ?? 0) >= 3 * mega && found;
      },
      { state: async () => podNamed(await ask(), 'busy').containers[0]?.rootfs },
    );
    const { rootfs, logs } = pod.containers[0] ?? {};
    assertBetween(rootfs?.usedBytes, 3 * mega, 4 * mega, 'layer');
    assertBetween(logs?.usedBytes, 1, 64 * 1_024, 'log');
    assert.equal(logs?.inodesUsed, 1);
    const volumes = new Map(pod.volume?.map((volume) => [volume.name, volume]));
    assertBetween(volumes.get('scratch')?.usedBytes, 5 * mega, 6 * mega, 'emptyDir');
    assert.equal(volumes.get('scratch')?.inodesUsed, 2);
    assertBetween(volumes.get('memory')?.usedBytes, mega, 2 * mega, 'emptyDir in memory');
    assert.equal(volumes.get('memory')?.capacityBytes, 8 * mega);
    const sum = (rootfs?.usedBytes ?? 0) + (logs?.usedBytes ?? 0) + (volumes.get('scratch')?.usedBytes ?? 0);
    // The hosts file is in it, memory is not.
    assertBetween(pod['ephemeral-storage']?.usedBytes, sum + 1, sum + 64 * 1_024, 'ephemeral storage');
  });

  test('its network counts what goes through it', async () => {
    const received = (summary: Summary): number => podNamed(summary, 'busy').network?.rxBytes ?? 0;
    const earlier = received(await askAnew());
    const { seen } = pods[0] ?? assert.fail('no pod');
    const id = seen.containers[0]?.id ?? '';
    const said = await node.runtime.exec(id, [
      'sh',
      '-c',
      'ping -c 3 -i 0.2 -s 1000 $(ip route | sed -n "s/default via \\([^ ]*\\).*/\\1/p"); cat /proc/net/dev',
    ]);
    const summary = await askAnew();
    assertBetween(received(summary), earlier + 3_000, earlier + 100_000, said);
    assert.equal(podNamed(summary, 'busy').network?.name, 'eth0');
    assert.deepEqual(
      podNamed(summary, 'busy').network?.interfaces?.map(({ name }) => name),
      ['eth0'],
    );
    assert.equal(podNamed(summary, 'host').network, undefined);
  });
});

test('the node is what the machine says', async () => {
  const { node: own } = await askAnew();
  const meminfo = readFileSync('/proc/meminfo', 'utf8');
  const total = Number(/MemTotal: +(\d+)/.exec(meminfo)?.[1]) * 1_024;
  assert.equal((own.memory?.availableBytes ?? 0) + (own.memory?.workingSetBytes ?? 0), total);
  const bootSeconds = Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]);
  assert.equal(Date.parse(own.startTime), bootSeconds * 1_000);
  assert.ok((own.runtime?.imageFs?.usedBytes ?? 0) > mega);
  assert.ok((own.fs?.capacityBytes ?? 0) > (own.fs?.availableBytes ?? 0));
  assert.deepEqual(
    own.systemContainers?.map(({ name }) => name),
    ['pods'],
  );
  assert.ok((own.rlimit?.maxpid ?? 0) > (own.rlimit?.curproc ?? 0));
});

test('a snapshot has the container, its sandbox and its pod, with their figures', async () => {
  const { cgroups } = await stats.snapshot(signal);
  const of = (container: string) =>
    cgroups.find(({ owner }) => owner?.pod === 'busy-node-1' && owner.container === container);
  const main = of('main');
  assert.ok(main);
  assertBetween(main.usage.cpu?.totalNs, 1, cpuNanos('main'), 'CPU');
  assert.equal(main.usage.limits.memory, 64 * mega);
  assert.equal(main.usage.limits.cpuQuotaUs, 20_000);
  assert.ok((main.usage.cpu?.throttling?.periods ?? 0) > 0);
  assert.equal(main.usage.processes?.processes, 1);
  assertBetween(main.usage.processes?.fileDescriptors, 3, 100, 'descriptors');
  assert.ok((main.filesystems[0]?.used ?? 0) >= 3 * mega);
  assert.equal(of('POD')?.network[0]?.name, 'eth0');
  assert.ok((of('')?.usage.memory?.usage ?? 0) >= (main.usage.memory?.rss ?? 0));
  assert.ok(cgroups.some(({ usage, filesystems }) => usage.path === '/' && filesystems.length > 0));
});
