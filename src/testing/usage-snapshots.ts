import type {
  CgroupOwner,
  CgroupUsage,
  DiskActivity,
  FilesystemUsage,
  InterfaceUsage,
  MachineFacts,
  OwnedUsage,
  Pressure,
  UsageSnapshot,
} from '../model/usage.ts';

interface SnapshotPlan {
  /** Which hierarchy the kernel has: they tell different things. */
  readonly version: 1 | 2;
  readonly pods: number;
  readonly containersPerPod: number;
}

const at = 1_700_000_012_345;

export const someMachine: MachineFacts = {
  machineId: '4c2b0a7e9d1f4e0f8f4b1c2d3e4f5a6b',
  systemUuid: '7b0b0f6e-1f2d-4f5e-9c3a-0d1e2f3a4b5c',
  bootId: '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0',
  kernelVersion: '6.1.0-18-amd64',
  osImage: 'Debian GNU/Linux 12 (bookworm)',
  cores: 8,
  physicalCores: 4,
  sockets: 1,
  memoryBytes: 16_777_216_000,
  swapBytes: 1_073_741_824,
};

/** A node where everything that can be told is told: the root, the tiers, and pods with sandboxes and containers. */
export function usageSnapshot(plan: SnapshotPlan): UsageSnapshot {
  const cgroups: OwnedUsage[] = [
    {
      usage: usage('/', 0, plan),
      owner: undefined,
      network: [network('eth0', 1)],
      filesystems: [{ ...filesystem('/dev/sda1'), disk: diskActivity }],
    },
    ...['/kubepods', '/kubepods/burstable', '/kubepods/besteffort', '/system.slice'].map((path, index) =>
      owned(usage(path, index + 1, plan), undefined),
    ),
  ];
  for (let pod = 0; pod < plan.pods; pod++) cgroups.push(...podCgroups(pod, plan));
  return { at, pressure: true, cgroups };
}

function podCgroups(index: number, plan: SnapshotPlan): readonly OwnedUsage[] {
  const podUid = `0c4f9a1e-7b52-4e6a-9d21-${digits(index, 12)}`;
  const path = `/kubepods/burstable/pod${podUid}`;
  const whose = { namespace: `namespace-${index % 7}`, pod: `web-frontend-6d4cf56db6-${digits(index, 5)}`, podUid };
  const pod: CgroupOwner = { ...whose, container: '', id: '', image: '' };
  const seed = 100 + index * 10;
  const sandboxId = digits(seed, 64);
  const sandbox = { ...whose, container: 'POD', id: sandboxId, image: 'registry.k8s.io/pause:3.9' };
  const containers = Array.from({ length: plan.containersPerPod }, (_, number) => {
    const id = digits(seed + 1 + number, 64);
    const owner = { ...whose, container: `container-${number}`, id, image: `docker.io/library/nginx:1.${number}` };
    const layer = filesystem('/dev/sda1');
    return { ...owned(usage(`${path}/${id}`, seed + number, plan), owner), filesystems: [layer] };
  });
  return [
    owned(usage(path, seed, plan), pod),
    { ...owned(usage(`${path}/${sandboxId}`, seed, plan), sandbox), network: [network('eth0', seed)] },
    ...containers,
  ];
}

const digits = (value: number, length: number): string => value.toString(16).padStart(length, 'a1b2c3d4e5f60718');

const owned = (of: CgroupUsage, owner: CgroupOwner | undefined): OwnedUsage => ({
  usage: of,
  owner,
  network: [],
  filesystems: [],
});

/** Figures of a likely size that differ between cgroups. */
function usage(path: string, seed: number, { version }: SnapshotPlan): CgroupUsage {
  const bytes = 12_345_678 + seed * 4_096;
  return {
    path,
    at: at - (seed % 50),
    createdAt: at - 3_600_000 + seed * 17,
    cpu: {
      totalNs: 123_456_789_012 + seed * 1_000_003,
      userNs: 100_000_000_000 + seed * 500_001,
      systemNs: 23_456_789_012 + seed * 500_002,
      throttling: { periods: 1_000 + seed, throttledPeriods: seed, throttledNs: seed * 1_000_001 },
    },
    memory: {
      usage: bytes,
      maxUsage: bytes * 2,
      workingSet: bytes - 4_096,
      rss: bytes - 1_048_576,
      cache: 1_048_576,
      mappedFile: 524_288,
      swap: seed,
      kernel: 262_144,
      activeFile: 8_192,
      inactiveFile: 4_096,
      failures: seed % 3,
      faults: { own: { minor: 1_000 + seed, major: seed }, all: { minor: 2_000_000 + seed, major: seed } },
      oomEvents: 0,
    },
    processes: {
      processes: 2,
      threads: 9,
      threadsMax: 4_096,
      fileDescriptors: 17,
      sockets: 3,
      openFilesSoftLimit: 1_048_576,
    },
    devices: [
      { major: 8, minor: 0, device: '/dev/sda', readBytes: bytes, writeBytes: 4_096, reads: 321 + seed, writes: 1 },
    ],
    pressure: version === 1 ? {} : { cpu: pressure(seed), memory: pressure(seed + 1), io: pressure(seed + 2) },
    limits: {
      cpuShares: 102,
      cpuQuotaUs: seed % 2 === 1 ? 50_000 : undefined,
      cpuPeriodUs: 100_000,
      memory: 134_217_728,
      memorySwap: 134_217_728,
      memoryReservation: undefined,
    },
  };
}

const pressure = (seed: number): Pressure => ({
  some: { totalUs: 1_234_567 + seed, avg10: 0.5, avg60: 0.25, avg300: 0.1 },
  full: { totalUs: 234_567 + seed, avg10: 0, avg60: 0, avg300: 0 },
});

const network = (name: string, seed: number): InterfaceUsage => ({
  name,
  rxBytes: 98_765_432 + seed,
  rxPackets: 65_432 + seed,
  rxErrors: 0,
  rxDropped: 1,
  txBytes: 87_654_321 + seed,
  txPackets: 54_321 + seed,
  txErrors: 0,
  txDropped: 2,
});

export const diskActivity: DiskActivity = {
  reads: 148_051,
  readsMerged: 10_359,
  sectorsRead: 4_818_794,
  readMs: 70_485,
  writes: 43_458,
  writesMerged: 172_781,
  sectorsWritten: 23_715_696,
  writeMs: 63_247,
  inProgress: 3,
  busyMs: 19_604,
  weightedMs: 137_243,
};

const filesystem = (device: string): FilesystemUsage => ({
  at,
  device,
  capacity: 107_374_182_400,
  available: 64_424_509_440,
  used: 42_949_672_960,
  inodes: 6_553_600,
  inodesFree: 6_000_000,
  inodesUsed: 553_600,
});
