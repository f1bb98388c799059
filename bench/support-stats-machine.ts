// A machine made of plain files: cgroups of pods with their containers, processes with networks, logs and volumes.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { noCalls } from '../src/base/calls.ts';
import type { Clock } from '../src/base/clock.ts';
import { containerId, podUid, sandboxId } from '../src/base/ids.ts';
import { silentLog } from '../src/base/log.ts';
import { systemRandom } from '../src/base/system-random.ts';
import { ImageFsInfoResponse, ListContainerStatsResponse } from '../src/gen/cri/api.ts';
import { HostCgroupUsage } from '../src/host/cgroup-usage.ts';
import { OpenFileCache } from '../src/host/open-file-cache.ts';
import { ForeignStorage } from '../src/host/foreign-storage.ts';
import { HostDisk } from '../src/host/disk-usage.ts';
import { HostVolumeDisks } from '../src/host/volume-disks.ts';
import { readMachineFacts } from '../src/host/machine-facts.ts';
import { HostProcUsage } from '../src/host/proc-usage.ts';
import { desiredPod } from '../src/model/desired-pod.ts';
import { podPaths } from '../src/model/pod-paths.ts';
import { Stats, type SeenPod } from '../src/stats/index.ts';

interface BenchMachine {
  readonly stats: Stats;
  remove(): void;
}

/** What a container's cgroup of version 1 consists of, and its copy for every cgroup. */
const trees = ['cpu', 'cpuacct', 'memory', 'blkio', 'pids'];
const network = [
  'Inter-|   Receive                                                |  Transmit',
  ' face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed',
  '    lo:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0',
  '  eth0: 1635007   48354    0    0    0     0          0         0  3703810   31361    0    0    0     0       0          0',
  '',
].join('\n');

export async function makeMachine(clock: Clock, pods: number, containers: number): Promise<BenchMachine> {
  // In memory, as the kernel's own files are.
  const folder = mkdtempSync('/dev/shm/tubelet-bench-stats-');
  const record = readFileSync('test/golden/cgroups/v1.txt', 'utf8').split(/^=== /m).slice(1);
  const sample = new Map(record.map((part) => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n') + 1)]));
  const put = (path: string, text: string): void => {
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
  };
  const makeCgroup = (path: string, pid: number): void => {
    for (const [file, text] of sample) {
      const [, tree = '', name = ''] = /^(\w+)\/kubepods\/burstable\/pod0a1b\/c0ffee\/(.+)$/.exec(file) ?? [];
      if (tree === '') continue;
      put(join(folder, tree, path, name), name === 'cgroup.procs' ? `${pid}\n` : text);
    }
    put(join(folder, 'proc', String(pid), 'net/dev'), network);
    put(
      join(folder, 'proc', String(pid), 'limits'),
      'Max open files            1024                 524288               files\n',
    );
    mkdirSync(join(folder, 'proc', String(pid), 'fd'));
    for (let fd = 0; fd < 12; fd++) symlinkSync(`socket:[${fd}]`, join(folder, 'proc', String(pid), 'fd', String(fd)));
  };
  for (const name of ['stat', 'meminfo', 'loadavg', 'vmstat', 'diskstats', 'self/net/dev']) {
    put(join(folder, 'proc', name), readFileSync(`/proc/${name}`, 'utf8'));
  }
  for (const name of ['pid_max', 'threads-max']) put(join(folder, 'proc/sys/kernel', name), '32768\n');
  for (const [file, text] of sample) if (/^\w+\/(memory|cpu|cpuacct)\.[^/]+$/.test(file)) put(join(folder, file), text);
  makeCgroup('/kubepods', 1);
  makeCgroup('/kubepods/besteffort', 2);
  makeCgroup('/kubepods/burstable', 3);

  const paths = podPaths(join(folder, 'kubelet'), join(folder, 'logs'));
  const createdAt = clock.now() - 600_000;
  let pid = 100;
  const seen = Array.from({ length: pods }, (_, index): SeenPod => {
    const uid = podUid(`0a1b2c3d-0000-0000-0000-${String(index).padStart(12, '0')}`);
    const pod = desiredPod('api', {
      metadata: { uid, name: `pod-${index}`, namespace: 'bench' },
      spec: { containers: [{ name: 'c0' }] },
    });
    const cgroup = `/kubepods/besteffort/pod${uid}`;
    const idOf = (name: string): string => `${index.toString(16).padStart(4, '0')}${name}`.padEnd(64, 'f');
    makeCgroup(cgroup, pid++);
    makeCgroup(`${cgroup}/${idOf('s')}`, pid++);
    put(paths.etcHosts(uid), '127.0.0.1 localhost\n');
    put(join(paths.volume(uid, 'kubernetes.io~empty-dir', 'scratch'), 'file'), 'x'.repeat(4_096));
    const names = Array.from({ length: containers }, (__, number) => `c${number}`);
    for (const name of names) {
      makeCgroup(`${cgroup}/${idOf(name)}`, pid++);
      put(join(paths.podLogs(pod), name, '0.log'), 'a line\n');
    }
    const state = { attempt: 0, createdAt } as const;
    return {
      pod,
      startTime: '2026-11-15T08:00:00Z',
      seen: {
        uid,
        name: pod.name,
        namespace: pod.namespace,
        observedAt: 0,
        sandboxes: [
          { ...state, id: sandboxId(idOf('s')), state: 'ready', ips: [], network: 'pod', networkKnown: true },
        ],
        containers: names.map((name) => ({
          ...state,
          id: containerId(idOf(name)),
          sandboxId: sandboxId(idOf('s')),
          name,
          state: 'running' as const,
          startedAt: createdAt,
          finishedAt: 0,
          exitCode: 0,
          reason: '',
          message: '',
          image: 'registry.k8s.io/busybox:1.36',
          imageRef: '',
          hash: '',
          annotations: {},
          logPath: '',
        })),
      },
    };
  });
  const layer = {
    timestamp: 1n,
    fsId: { mountpoint: folder },
    usedBytes: { value: 40_960n },
    inodesUsed: { value: 13n },
  };
  // Kept as bytes, so that reading the runtime's answer is part of what is measured.
  const answer = ListContainerStatsResponse.encode(
    ListContainerStatsResponse.fromPartial({
      stats: seen.flatMap(({ pod, seen: { containers: all } }) =>
        all.map(({ id, name }) => ({
          attributes: {
            id,
            metadata: { name, attempt: 0 },
            labels: {
              'io.kubernetes.container.name': name,
              'io.kubernetes.pod.name': pod.name,
              'io.kubernetes.pod.namespace': pod.namespace,
              'io.kubernetes.pod.uid': pod.uid,
            },
            annotations: { 'io.kubernetes.container.hash': 'abcdef12', 'io.kubernetes.container.restartCount': '0' },
          },
          cpu: { timestamp: 1n, usageCoreNanoSeconds: { value: 123_456_789n } },
          memory: { timestamp: 1n, workingSetBytes: { value: 123_456n }, rssBytes: { value: 123_456n } },
          writableLayer: layer,
        })),
      ),
    }),
  ).finish();
  const images = ImageFsInfoResponse.fromPartial({ imageFilesystems: [layer] });
  const hierarchies = trees.map((name) => ({ version: 1 as const, root: join(folder, name), controllers: [name] }));
  const proc = join(folder, 'proc');
  const stats = new Stats({
    clock,
    random: systemRandom(),
    log: silentLog,
    settings: {
      nodeName: 'bench',
      rootDir: folder,
      cgroupLayout: {
        cgroupRoot: '/',
        cgroupDriver: 'cgroupfs',
        cgroupsPerQos: true,
        kubeletCgroups: '',
        runtimeCgroups: '',
        systemCgroups: '',
      },
      pressure: true,
      volumePeriodMs: 60_000,
    },
    paths,
    facts: await readMachineFacts(),
    cgroups: HostCgroupUsage.open({
      clock,
      version: 1,
      pressure: true,
      hierarchies,
      proc,
      files: OpenFileCache.open(clock),
    }),
    machine: new HostProcUsage(proc),
    disk: new HostDisk(clock),
    drivers: { volumeUsage: async () => undefined },
    volumeMeasured: () => {},
    volumeDisks: new HostVolumeDisks({
      clock,
      storage: new ForeignStorage({
        calls: noCalls,
        clock,
        log: silentLog,
        rootDir: folder,
        onAnswer: () => undefined,
      }),
    }),
    runtime: {
      listContainerStats: async () => ListContainerStatsResponse.decode(answer),
      imageFsInfo: async () => images,
    },
    pods: { all: () => seen },
    volumesOf: (uid) => [
      { name: 'scratch', path: paths.volume(uid, 'kubernetes.io~empty-dir', 'scratch'), kind: 'ephemeral' },
    ],
  });
  return { stats, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
