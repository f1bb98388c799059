import { apiTime } from '../model/api-time.ts';
import type { FsStats, PodStats, VolumeStats } from '../model/stats-summary.ts';
import type { TreeSize, PodStorageUsage } from '../model/usage.ts';
import type { PodFolders, PodLogs } from './disk-stats.ts';
import type { PodExtras, SummaryExtras } from './summary-input.ts';
import { filesystemStats, fsStats } from './summary-parts.ts';
import type { ContainerTarget } from './targets.ts';
import type { MeasuredVolume } from './volume-usages.ts';

/** What a pod and its containers take on disks. */
interface PodStorage {
  readonly pod: Pick<PodStats, 'volume' | 'ephemeral-storage'>;
  /** In the order of the containers that were asked about. */
  readonly containers: readonly ContainerStorage[];
}

export interface ContainerStorage {
  readonly rootfs: FsStats | undefined;
  readonly logs: FsStats | undefined;
}

export function podStorage(
  containers: readonly { readonly target: ContainerTarget }[],
  { logs, folders }: Pick<PodExtras, 'logs' | 'folders'>,
  { at, rootFs, runtime }: Pick<SummaryExtras, 'at' | 'rootFs' | 'runtime'>,
): PodStorage {
  const storage: ContainerStorage[] = [];
  for (const { target } of containers) {
    const layer = runtime?.layers.get(target.id);
    const written = logs?.containers.get(target.name);
    storage.push({
      rootfs: layer && filesystemStats(layer),
      logs: logs && rootFs && written && fsStats(written.bytes, written.inodes, rootFs, apiTime(logs.at)),
    });
  }
  const volumes = folders?.volumes ?? [];
  const volumeStats: VolumeStats[] = [];
  for (const volume of volumes) volumeStats.push(statsOfVolume(volume));
  const { bytes, inodes } = ephemeralSize(storage, logs, folders);
  return {
    pod: {
      volume: volumes.length > 0 ? volumeStats : undefined,
      'ephemeral-storage': rootFs && fsStats(bytes, inodes, rootFs, apiTime(at)),
    },
    containers: storage,
  };
}

/** The same in bytes, for eviction. What containers wrote counts where it is on the node's own disk. */
export function storageUsage(
  { pod, containers: storage }: PodStorage,
  containers: readonly ContainerTarget[],
  layersOnNodeDisk: boolean,
): PodStorageUsage {
  const ephemeral = pod['ephemeral-storage']?.usedBytes;
  return {
    volumes: new Map((pod.volume ?? []).map(({ name, usedBytes }) => [name, usedBytes ?? 0])),
    containers: new Map(
      containers.map(({ name }, index) => {
        const { rootfs, logs } = storage[index] ?? {};
        return [name, (logs?.usedBytes ?? 0) + (layersOnNodeDisk ? (rootfs?.usedBytes ?? 0) : 0)];
      }),
    ),
    ...(ephemeral !== undefined && { ephemeral }),
  };
}

function statsOfVolume({ volume, usage }: MeasuredVolume): VolumeStats {
  const { isAbnormal: abnormal } = usage;
  const { time, availableBytes, capacityBytes, usedBytes, inodesFree, inodes, inodesUsed } = filesystemStats(usage);
  return {
    time,
    availableBytes,
    capacityBytes,
    usedBytes,
    inodesFree,
    inodes,
    inodesUsed,
    name: volume.name,
    pvcRef: volume.pvc,
    volumeHealthStats: abnormal === undefined ? undefined : { abnormal },
  };
}

/** All that is the pod's on disks of the node and goes with it. */
function ephemeralSize(
  storage: readonly ContainerStorage[],
  logs: PodLogs | undefined,
  folders: PodFolders | undefined,
): TreeSize {
  let bytes = (logs?.others.bytes ?? 0) + (folders?.files.bytes ?? 0);
  let inodes = (logs?.others.inodes ?? 0) + (folders?.files.inodes ?? 0);
  for (const { rootfs, logs: written } of storage) {
    bytes += (rootfs?.usedBytes ?? 0) + (written?.usedBytes ?? 0);
    inodes += (rootfs?.inodesUsed ?? 0) + (written?.inodesUsed ?? 0);
  }
  for (const { volume, usage } of folders?.volumes ?? []) {
    if (volume.kind !== 'ephemeral') continue;
    bytes += usage.used ?? 0;
    inodes += usage.inodesUsed ?? 0;
  }
  return { bytes, inodes };
}
