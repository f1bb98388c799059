import type { PodUid } from '../base/ids.ts';
import { ImageFsInfoResponse, ListContainerStatsResponse } from '../gen/cri/api.ts';
import { podPaths } from '../model/pod-paths.ts';
import type { CgroupUsage, FilesystemUsage, InterfaceUsage, MachineFacts, TreeSize } from '../model/usage.ts';
import { Stats, type PodVolume, type SeenPod, type StatsDeps, type StatsSettings } from '../stats/index.ts';
import { FakeClock } from './fake-clock.ts';
import { MemoryLog } from './memory-log.ts';
import { seededRandom } from './seeded-random.ts';
import { diskActivity } from './usage-snapshots.ts';

/** The usage of a cgroup, said in few words. */
export interface FakeUsage {
  readonly cpuNs?: number;
  readonly memory?: number;
  readonly inactiveFile?: number;
  readonly limit?: number;
  readonly swap?: number;
  readonly swapLimit?: number;
  readonly pressure?: CgroupUsage['pressure'];
  readonly pids?: readonly number[];
}

const noLimits = {
  cpuShares: undefined,
  cpuQuotaUs: undefined,
  cpuPeriodUs: undefined,
  memory: undefined,
  memorySwap: undefined,
  memoryReservation: undefined,
};

const facts: MachineFacts = {
  machineId: 'machine',
  systemUuid: 'system',
  bootId: 'boot',
  kernelVersion: '6.18',
  osImage: 'Debian',
  cores: 2,
  physicalCores: 2,
  sockets: 1,
  memoryBytes: 1_000_000,
  swapBytes: 0,
};

export const testLayout: StatsSettings['cgroupLayout'] = {
  cgroupRoot: '/',
  cgroupDriver: 'cgroupfs',
  cgroupsPerQos: true,
  kubeletCgroups: '',
  runtimeCgroups: '',
  systemCgroups: '',
};

/** A machine in memory, and `Stats` on it; what is asked of it is counted. */
export class StatsWorld {
  readonly clock: FakeClock;
  readonly log = new MemoryLog();
  readonly cgroups = new Map<string, FakeUsage>();
  readonly networks = new Map<number | 'self', readonly InterfaceUsage[]>();
  readonly trees = new Map<string, TreeSize>();
  readonly logFolders = new Map<string, ReadonlyMap<string, TreeSize>>();
  readonly mountPoints = new Set<string>();
  /** Paths whose file systems others answer for. */
  readonly distant = new Set<string>();
  readonly volumes = new Map<string, readonly PodVolume[]>();
  readonly asked: string[] = [];
  /** How volumes were measured, and the seconds it took. */
  readonly measured: (readonly [source: string, seconds: number])[] = [];
  pods: readonly SeenPod[] = [];
  runtime = { stats: ListContainerStatsResponse.create(), images: ImageFsInfoResponse.create() };
  /** Runs before each question to a disk or the runtime; may wait or throw. */
  before: (what: string) => Promise<void> = async () => {};

  constructor(clock = new FakeClock({ wall: Date.UTC(2026, 10, 15, 8) })) {
    this.clock = clock;
  }

  stats(settings: Partial<StatsSettings> = {}, more: Partial<StatsDeps> = {}): Stats {
    return new Stats({ ...this.deps(settings), ...more });
  }

  count(what: string): number {
    return this.asked.filter((question) => question.startsWith(what)).length;
  }

  deps(settings: Partial<StatsSettings> = {}): StatsDeps {
    const { clock, log } = this;
    return {
      clock,
      log,
      random: seededRandom(1),
      settings: {
        nodeName: 'vm',
        rootDir: '/var/lib/kubelet',
        cgroupLayout: testLayout,
        pressure: true,
        volumePeriodMs: 60_000,
        ...settings,
      },
      paths: podPaths('/var/lib/kubelet', '/var/log/pods'),
      facts,
      cgroups: {
        begin: () => void this.asked.push('begin'),
        read: (path, depth) => this.#read(path, depth),
        processes: (path) => this.cgroups.get(path)?.pids ?? [],
        createdAt: () => clock.now() - 3_600_000,
        close: () => void this.asked.push('close'),
      },
      machine: {
        interfaces: (pid) => this.networks.get(pid) ?? [],
        memory: () => ({ swapFree: 500 }),
        disks: () => new Map([['/dev/sda1', diskActivity]]),
        threads: () => ({ max: 32_768, current: 212 }),
        bootTime: () => clock.now() - 7_200_000,
      },
      disk: {
        filesystem: (path) => this.#ask(`filesystem ${path}`, () => this.#filesystem(path)),
        filesystems: () => this.#ask('filesystems', () => [{ ...this.#filesystem('/'), device: '/dev/sda1' }]),
        device: () => '/dev/sda1',
        tree: (path) => this.#ask(`tree ${path}`, () => this.trees.get(path) ?? { bytes: 0, inodes: 0 }),
        folders: (path) =>
          this.#ask(`folders ${path}`, () => ({
            files: { bytes: 0, inodes: 0 },
            folders: this.logFolders.get(path) ?? new Map<string, TreeSize>(),
          })),
        isMountPoint: async (path) => this.mountPoints.has(path),
      },
      runtime: {
        listContainerStats: () => this.#ask('listContainerStats', () => this.runtime.stats),
        imageFsInfo: () => this.#ask('imageFsInfo', () => this.runtime.images),
      },
      pods: { all: () => this.pods },
      volumesOf: (uid: PodUid) => this.volumes.get(uid) ?? [],
      volumeDisks: {
        isDistant: (path) => this.distant.has(path),
        distantFilesystem: (path) => this.#ask(`distant ${path}`, () => this.#filesystem(path)),
        deviceBytes: (path) => this.#ask(`device ${path}`, () => 1 << 20),
      },
      drivers: { volumeUsage: async () => undefined },
      volumeMeasured: (...figure) => void this.measured.push(figure),
    };
  }

  async #ask<T>(what: string, answer: () => T): Promise<T> {
    this.asked.push(what);
    await this.before(what);
    return answer();
  }

  #filesystem(path: string): FilesystemUsage {
    const isMemory = this.mountPoints.has(path);
    return {
      at: this.clock.now(),
      capacity: isMemory ? 64_000 : 1_000_000,
      available: isMemory ? 60_000 : 700_000,
      used: isMemory ? 4_000 : 200_000,
      inodes: 1_000,
      inodesFree: 600,
      inodesUsed: isMemory ? 9 : 400,
    };
  }

  #read(path: string, depth: string): CgroupUsage | undefined {
    this.asked.push(`${depth} ${path}`);
    const usage = this.cgroups.get(path);
    if (usage === undefined) return undefined;
    const { memory = 0, inactiveFile = 0 } = usage;
    const faults = { minor: 3, major: 1 };
    return {
      path,
      at: this.clock.now(),
      createdAt: undefined,
      cpu: { totalNs: usage.cpuNs ?? 0, userNs: 0, systemNs: 0 },
      memory: {
        usage: memory,
        maxUsage: undefined,
        workingSet: memory - inactiveFile,
        rss: memory / 2,
        cache: 0,
        mappedFile: 0,
        swap: usage.swap ?? 0,
        kernel: 0,
        activeFile: 0,
        inactiveFile,
        failures: 0,
        faults: { own: faults, all: faults },
        oomEvents: undefined,
      },
      processes: undefined,
      devices: [],
      pressure: usage.pressure ?? {},
      limits: { ...noLimits, memory: usage.limit, memorySwap: usage.swapLimit },
    };
  }
}
