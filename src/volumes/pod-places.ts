import type { PodUid } from '../base/ids.ts';
import type { VolumePlace } from './ports.ts';

/** The key of a pod's volume: uids have no slashes. */
export function placeKey({ uid, name }: VolumePlace): string {
  return `${uid}/${name}`;
}

/** Of how many pods there are volumes among such keys. */
export function countPods(keys: Iterable<string>): number {
  return new Set([...keys].map((key) => key.slice(0, key.indexOf('/')))).size;
}

/** Drops what is kept of a pod's volumes under such keys. */
export function dropPod(kept: Map<string, unknown>, uid: PodUid): void {
  for (const key of kept.keys()) if (key.startsWith(`${uid}/`)) kept.delete(key);
}
