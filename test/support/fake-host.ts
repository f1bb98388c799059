import { TubeletError } from '../../src/base/errors.ts';
import type { Clock } from '../../src/base/clock.ts';
import type { Cri } from '../../src/cri/index.ts';
import type { Host } from '../../src/main/agent/platform.ts';
import { createProber } from '../../src/pods/probes/index.ts';
import type { ManifestFolder } from '../../src/testing/manifest-folder.ts';
import { MemoryBlockDevices } from '../../src/testing/memory-block-devices.ts';
import type { MemoryCertificateFiles } from '../../src/testing/memory-certificate-files.ts';
import type { MemoryCgroupTree } from '../../src/testing/memory-cgroup-tree.ts';
import { asText, type MemoryFiles } from '../../src/testing/memory-files.ts';
import type { MemorySetupMachine } from '../../src/testing/memory-setup-machine.ts';
import { memoryMountPrograms, memoryVolumeHost } from '../../src/testing/memory-volume-host.ts';
import { memoryShutdownFiles } from '../../src/testing/memory-shutdown-files.ts';
import { goldenInputs } from '../../src/testing/node-world.ts';
import type { StatsWorld } from '../../src/testing/stats-world.ts';

/** What of a machine in memory is still there when its agent has ended. */
export interface FakeDisks {
  readonly clock: Clock;
  readonly files: MemoryFiles;
  readonly manifests: ManifestFolder;
  readonly certificates: MemoryCertificateFiles;
  readonly cgroups: MemoryCgroupTree;
  readonly usage: StatsWorld;
  readonly systemd?: Host['systemd'];
  readonly setup: MemorySetupMachine;
  /** What the machine has of each resource; it may change. */
  readonly capacity: Record<string, string>;
}

/** Of a machine in memory. */
export const machineMemory = 24n << 30n;
const recordMode = 0o600;
/** Host ids for three pods with users of their own. */
const idSpace = { first: 65_536, end: 4 * 65_536, blockLength: 65_536 };
const controllers: ReadonlySet<string> = new Set(['cpu', 'cpuset', 'hugetlb', 'memory', 'pids']);

/** A disk on which logs never grow. */
const inertLogFiles: Host['pods']['logFiles'] = {
  size: async () => 0,
  list: async () => [],
  rename: async () => {},
  renameBack: async () => {},
  remove: async () => {},
  compress: async () => {},
  watch: () => () => {},
  makeFolder: async () => {},
  async *names() {},
  readLink: async () => undefined,
  exists: async () => false,
  link: async () => {},
  removeLink: async () => {},
};

const absent = (what: string) => (): never => {
  throw new TubeletError('unsupported', `this machine has no ${what}`);
};
const absentLater = (what: string) => async (): Promise<never> => absent(what)();

/** The machine of an agent in memory: two CPUs, 24 GB, no plugins, no network but its own address. */
export function fakeHost(disks: FakeDisks, files: MemoryFiles, cri: Cri): Host {
  const { clock, certificates } = disks;
  const { facts, disk, machine, cgroups, volumeDisks } = disks.usage.deps();
  return {
    components: [],
    machine: {
      memoryBytes: machineMemory,
      swapBytes: 0n,
      cpus: 2,
      cpuList: '0-1',
      hugePageSizes: ['2MB'],
      thermalThrottlePaths: [],
      cgroupVersion: 2,
    },
    kernel: {
      architecture: 'amd64',
      kernelVersion: '6.18.44',
      hasAppArmor: false,
      hasSwapController: false,
      hasSelinux: false,
    },
    programStart: { upSeconds: 3_600, startedAt: clock.monotonic() },
    outwardAddresses: () => ['192.0.2.2'],
    setup: disks.setup,
    loadImageProviders: async () => undefined,
    checkpoints: {
      read: (path) => files.readText(path),
      replace: (path, text) => files.replaceFile(path, text, recordMode),
      putAside: async (path) => {
        await files.replaceFile(`${path}.damaged`, await files.readText(path), recordMode);
        await files.removeFile(path);
      },
    },
    formerDevices: { path: '/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint', read: async () => undefined },
    node: fakeNode(disks.capacity),
    pods: fakePodHost(files, clock, cri),
    sources: { files: disks.manifests, http: { get: absentLater('network') } },
    volumes: {
      host: memoryVolumeHost(files),
      programs: memoryMountPrograms(files),
      files,
      devices: new MemoryBlockDevices(files),
    },
    images: {
      files: {
        readText: (path) => files.readText(path),
        makeFolder: (path, mode) => files.makeFolder(path, mode),
        writeAtomic: (path, content, mode) => files.replaceFile(path, content, mode),
        list: (path) => files.list(path),
        removeTree: (path) => files.removeTree(path),
      },
      pluginRunner: { run: absentLater('credential plugins') },
    },
    plugins: {
      files: {
        makeFolder: (path) => files.makeFolder(path, 0o750),
        list: async () => [],
        identify: async (path) => path,
        watch: () => () => {},
      },
      open: absent('sockets'),
    },
    cgroups: {
      tree: Object.assign(disks.cgroups, { controllers }),
      processes: {
        version: 2,
        own: () => new Map([['', '/system.slice/kubelet.service']]),
        isInside: () => false,
        make: (path) => disks.cgroups.make(path),
        enter: async () => {},
      },
    },
    systemd: disks.systemd,
    shutdown: memoryShutdownFiles(files),
    stats: { facts, disk, machine, cgroups, volumeDisks },
    server: {
      files: {
        containerLogs: {
          resolve: absentLater('logs'),
          open: absentLater('logs'),
          stat: async () => undefined,
          list: async () => [],
          watch: absent('logs'),
        },
        nodeLogs: { open: absentLater('logs') },
        journal: { run: absentLater('journal') },
        checkpoints: files,
      },
      authorities: certificates,
      certificates,
    },
  };
}

function fakeNode(capacity: FakeDisks['capacity']): Host['node'] {
  const { identity, network, resolved, swapBytes } = goldenInputs;
  return {
    identity: async () => identity ?? { machineId: '', systemUuid: '', bootId: '', kernelVersion: '', osImage: '' },
    network: () => network,
    lookup: async () => resolved,
    capacity: () => capacity,
    swapBytes: () => swapBytes,
    rootFsBytes: async () => 264_212_084n * 1024n,
  };
}

function fakePodHost(files: MemoryFiles, clock: Clock, cri: Cri): Host['pods'] {
  return {
    files,
    terminationMessages: {
      readEnd: async (path, bytes) => (await files.readText(path)).slice(-bytes),
      readLogTail: async (path, { bytes }) => asText(files.entries.get(path)?.content ?? '').slice(-bytes),
    },
    logFiles: inertLogFiles,
    hookRequests: { send: absentLater('network') },
    prober: createProber({ clock, runtime: cri }),
    dns: async () => ({ servers: ['192.0.2.53'], searches: [], options: [] }),
    userNamespaces: {
      enabled: true,
      files: {
        list: (path) => files.list(path),
        readText: (path) => files.readText(path),
        replace: (path, text) => files.replaceFile(path, text, recordMode),
      },
      readSpace: async () => ({ space: idSpace, origin: 'default' }),
    },
  };
}
