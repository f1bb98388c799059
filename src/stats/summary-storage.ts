import type { FsStats, PodStats, VolumeStats } from '../model/stats-summary.ts';
import type { PodStorageUsage, TreeSize } from './ports.ts';
import type { PodExtras, SummaryExtras } from './summary-input.ts';
import { filesystemStats, fsStats, type TimeText } from './summary-parts.ts';
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
  timeText: TimeText,
): PodStorage {
  const rootfs = new Map<string, FsStats>();
  const logStats = new Map<string, FsStats>();
  for (const { target } of containers) {
    const layer = runtime?.layers.get(target.id);
    if (layer) rootfs.set(target.id, filesystemStats(layer, timeText));
    const written = logs?.containers.get(target.name);
    if (logs && rootFs && written) logStats.set(target.name, fsStats(written, rootFs, timeText(logs.at)));
  }
  const volumes = folders?.volumes ?? [];
  const ephemeral = total([
    ...[...rootfs.values(), ...logStats.values()].map(sizeOf),
    ...(logs ? [logs.others] : []),
    ...(folders ? [folders.files] : []),
    ...volumes.filter(({ volume }) => volume.kind === 'ephemeral').map(({ usage }) => sizeOfVolume(usage)),
  ]);
  return {
    pod: {
      ...(volumes.length > 0 && { volume: volumes.map((volume) => volumeStats(volume, timeText)) }),
      ...(rootFs && { 'ephemeral-storage': fsStats(ephemeral, rootFs, timeText(at)) }),
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

/** The part of one container. */
export function storageStats(
  { rootfs, logs }: PodStorage,
  { id, name }: ContainerTarget,
): { readonly rootfs?: FsStats; readonly logs?: FsStats } {
  const [own, written] = [rootfs.get(id), logs.get(name)];
  return { ...(own && { rootfs: own }), ...(written && { logs: written }) };
}

function volumeStats({ volume, usage }: MeasuredVolume, timeText: TimeText): VolumeStats {
  const { isAbnormal: abnormal } = usage;
  return {
    ...filesystemStats(usage, timeText),
    name: volume.name,
    ...(volume.pvc && { pvcRef: volume.pvc }),
    ...(abnormal !== undefined && { volumeHealthStats: { abnormal } }),
  };
}

const sizeOf = ({ usedBytes, inodesUsed }: FsStats): TreeSize => ({ bytes: usedBytes ?? 0, inodes: inodesUsed ?? 0 });

const sizeOfVolume = ({ used, inodesUsed }: MeasuredVolume['usage']): TreeSize => ({
  bytes: used ?? 0,
  inodes: inodesUsed ?? 0,
});

function total(sizes: readonly TreeSize[]): TreeSize {
  return sizes.reduce((sum, { bytes, inodes }) => ({ bytes: sum.bytes + bytes, inodes: sum.inodes + inodes }), {
    bytes: 0,
    inodes: 0,
  });
}
