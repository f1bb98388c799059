import type { CancelTimer } from '../base/clock.ts';
import type { MountedVolume } from './ports.ts';
import type { VolumeCount } from './volume-metrics.ts';
import type { VolumeRecord } from './volume-record.ts';

/** What is known of the volumes of one pod. */
export interface PodVolumes {
  /** By name in the pod. */
  readonly records: Map<string, VolumeRecord>;
  /** Aborts when they are torn down. */
  readonly abort: AbortController;
  /** The map that `readyVolumes` last returned. */
  ready?: ReadonlyMap<string, MountedVolume>;
  waitingSinceMs?: number;
  timer?: { readonly atMs: number; readonly cancel: CancelTimer };
}

export function noVolumes(): PodVolumes {
  return { records: new Map(), abort: new AbortController() };
}

/** The record of a volume; the first call for a name creates it. */
export function recordOf({ records }: PodVolumes, name: string, nowMs: number): VolumeRecord {
  const known = records.get(name);
  if (known !== undefined) return known;
  const made: VolumeRecord = { wantedSinceMs: nowMs };
  records.set(name, made);
  return made;
}

const nothing: ReadonlyMap<string, MountedVolume> = new Map();

/** Ready volumes by their name in the pod. Returns the same map while nothing changes, so that callers can compare maps. */
export function readyVolumes(volumes: PodVolumes | undefined): ReadonlyMap<string, MountedVolume> {
  if (volumes === undefined) return nothing;
  const { records, ready: before = nothing } = volumes;
  let count = 0;
  let isSame = true;
  for (const [name, { mounted }] of records) {
    if (mounted === undefined) continue;
    count++;
    isSame &&= before.get(name) === mounted;
  }
  if (isSame && count === before.size) return before;
  const ready = new Map<string, MountedVolume>();
  for (const [name, { mounted }] of records) if (mounted !== undefined) ready.set(name, mounted);
  volumes.ready = ready;
  return ready;
}

/** Operations under way. They settle without rejecting. */
export function underWay(volumes: PodVolumes | undefined): readonly (readonly [string, Promise<void>])[] {
  return [...(volumes?.records ?? [])].flatMap(([name, { running, expanding }]) =>
    [running, expanding].flatMap((operation) => (operation === undefined ? [] : [[name, operation] as const])),
  );
}

/** How many volumes of each kind are wanted and ready. */
export function countVolumes(pods: Iterable<PodVolumes>): readonly VolumeCount[] {
  const counts = new Map<string, { wanted: number; mounted: number }>();
  for (const { records } of pods) {
    for (const { plugin, mounted } of records.values()) {
      if (plugin === undefined) continue;
      const count = counts.get(plugin) ?? { wanted: 0, mounted: 0 };
      count.wanted++;
      if (mounted !== undefined) count.mounted++;
      counts.set(plugin, count);
    }
  }
  return [...counts].map(([plugin, count]) => ({ plugin, ...count }));
}
