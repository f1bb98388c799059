import type { CancelTimer } from '../base/clock.ts';
import type { VolumeCount } from './volume-metrics.ts';
import type { VolumeRecord } from './volume-record.ts';

/** What is known of the volumes of one pod. */
export interface PodVolumes {
  /** By name in the pod. */
  readonly records: Map<string, VolumeRecord>;
  /** Aborts when they are taken down. */
  readonly abort: AbortController;
  waitingSinceMs?: number;
  timer?: { readonly atMs: number; readonly cancel: CancelTimer };
}

export function noVolumes(): PodVolumes {
  return { records: new Map(), abort: new AbortController() };
}

/** The record of a volume, which is made when it is first asked for. */
export function recordOf({ records }: PodVolumes, name: string, nowMs: number): VolumeRecord {
  const known = records.get(name);
  if (known !== undefined) return known;
  const made: VolumeRecord = { wantedSinceMs: nowMs };
  records.set(name, made);
  return made;
}

/** What is being done with volumes right now: it ends without rejecting. */
export function underWay(volumes: PodVolumes | undefined): readonly (readonly [string, Promise<void>])[] {
  return [...(volumes?.records ?? [])].flatMap(([name, { running, growing }]) =>
    [running, growing].flatMap((operation) => (operation === undefined ? [] : [[name, operation] as const])),
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
