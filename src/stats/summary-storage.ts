import type { FsStats, PodStats, VolumeStats } from '../model/stats-summary.ts';
import type { VolumeFigures } from './disk-figures.ts';
import type { TreeSize } from './ports.ts';
import type { ContainerSample } from './sampler.ts';
import type { PodExtras, SummaryExtras } from './summary-input.ts';
import { filesystemStats, fsStats, type TimeText } from './summary-parts.ts';
import type { ContainerTarget } from './targets.ts';

/** What a pod and its containers take on disks. */
export interface PodStorage {
  readonly pod: Pick<PodStats, 'volume' | 'ephemeral-storage'>;
  /** By container id. */
  readonly rootfs: ReadonlyMap<string, FsStats>;
  /** By container name. */
  readonly logs: ReadonlyMap<string, FsStats>;
}

export function podStorage(
  containers: readonly ContainerSample[],
  { logs, folders }: PodExtras,
  { at, rootFs, runtime }: SummaryExtras,
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
    ...(folders ? [folders.hosts] : []),
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

/** The part of one container. */
export function storageStats(
  { rootfs, logs }: PodStorage,
  { id, name }: ContainerTarget,
): { readonly rootfs?: FsStats; readonly logs?: FsStats } {
  const [own, written] = [rootfs.get(id), logs.get(name)];
  return { ...(own && { rootfs: own }), ...(written && { logs: written }) };
}

function volumeStats({ volume, usage }: VolumeFigures, timeText: TimeText): VolumeStats {
  return { ...filesystemStats(usage, timeText), name: volume.name, ...(volume.pvc && { pvcRef: volume.pvc }) };
}

const sizeOf = ({ usedBytes, inodesUsed }: FsStats): TreeSize => ({ bytes: usedBytes ?? 0, inodes: inodesUsed ?? 0 });

const sizeOfVolume = ({ used, inodesUsed }: VolumeFigures['usage']): TreeSize => ({
  bytes: used ?? 0,
  inodes: inodesUsed ?? 0,
});

function total(sizes: readonly TreeSize[]): TreeSize {
  return sizes.reduce((sum, { bytes, inodes }) => ({ bytes: sum.bytes + bytes, inodes: sum.inodes + inodes }), {
    bytes: 0,
    inodes: 0,
  });
}
