import type { FsStats, PodStats, VolumeStats } from '../model/stats-summary.ts';
import type { PodFolders, PodLogs } from './disk-figures.ts';
import type { PodStorageUsage, TreeSize } from './ports.ts';
import type { PodExtras, SummaryExtras } from './summary-input.ts';
import { filesystemStats, fsStats, type TimeTexts } from './summary-parts.ts';
import type { ContainerTarget } from './targets.ts';
import type { MeasuredVolume } from './volume-figures.ts';

/** What a pod and its containers take on disks. */
export interface PodStorage {
  readonly pod: Pick<PodStats, 'volume' | 'ephemeral-storage'>;
  /** By container id. */
  readonly rootfs: ReadonlyMap<string, FsStats>;
  /** By container name. */
  readonly logs: ReadonlyMap<string, FsStats>;
}

export function podStorage(
  containers: readonly { readonly target: ContainerTarget }[],
  { logs, folders }: Pick<PodExtras, 'logs' | 'folders'>,
  { at, rootFs, runtime }: Pick<SummaryExtras, 'at' | 'rootFs' | 'runtime'>,
  times: TimeTexts,
): PodStorage {
  const rootfs = new Map<string, FsStats>();
  const logStats = new Map<string, FsStats>();
  for (const { target } of containers) {
    const layer = runtime?.layers.get(target.id);
    if (layer) rootfs.set(target.id, filesystemStats(layer, times));
    const written = logs?.containers.get(target.name);
    if (logs && rootFs && written) logStats.set(target.name, fsStats(written, rootFs, times.of(logs.at)));
  }
  const volumes = folders?.volumes ?? [];
  const volumeStats: VolumeStats[] = [];
  for (const volume of volumes) volumeStats.push(statsOfVolume(volume, times));
  const ephemeral = ephemeralSize(rootfs, logStats, logs, folders);
  return {
    pod: {
      volume: volumes.length > 0 ? volumeStats : undefined,
      'ephemeral-storage': rootFs && fsStats(ephemeral, rootFs, times.of(at)),
    },
    rootfs,
    logs: logStats,
  };
}

/** The same in bytes, for whoever watches over limits. What containers wrote counts where it is on the node's own disk. */
export function storageUsage(
  { pod, rootfs, logs }: PodStorage,
  containers: readonly ContainerTarget[],
  layersOnNodeDisk: boolean,
): PodStorageUsage {
  const ephemeral = pod['ephemeral-storage']?.usedBytes;
  return {
    volumes: new Map((pod.volume ?? []).map(({ name, usedBytes }) => [name, usedBytes ?? 0])),
    containers: new Map(
      containers.map(({ id, name }) => [
        name,
        (logs.get(name)?.usedBytes ?? 0) + (layersOnNodeDisk ? (rootfs.get(id)?.usedBytes ?? 0) : 0),
      ]),
    ),
    ...(ephemeral !== undefined && { ephemeral }),
  };
}

function statsOfVolume({ volume, usage }: MeasuredVolume, times: TimeTexts): VolumeStats {
  const { isAbnormal: abnormal } = usage;
  return {
    ...filesystemStats(usage, times),
    name: volume.name,
    pvcRef: volume.pvc,
    volumeHealthStats: abnormal === undefined ? undefined : { abnormal },
  };
}

/** All that is the pod's on disks of the node and goes with it. */
function ephemeralSize(
  rootfs: ReadonlyMap<string, FsStats>,
  logStats: ReadonlyMap<string, FsStats>,
  logs: PodLogs | undefined,
  folders: PodFolders | undefined,
): TreeSize {
  let bytes = (logs?.others.bytes ?? 0) + (folders?.files.bytes ?? 0);
  let inodes = (logs?.others.inodes ?? 0) + (folders?.files.inodes ?? 0);
  for (const part of [rootfs, logStats]) {
    for (const { usedBytes = 0, inodesUsed = 0 } of part.values()) {
      bytes += usedBytes;
      inodes += inodesUsed;
    }
  }
  for (const { volume, usage } of folders?.volumes ?? []) {
    if (volume.kind !== 'ephemeral') continue;
    bytes += usage.used ?? 0;
    inodes += usage.inodesUsed ?? 0;
  }
  return { bytes, inodes };
}
