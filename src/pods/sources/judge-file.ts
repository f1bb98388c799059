import type { DesiredPod } from '../../model/desired-pod.ts';
import type { Manifest } from './read-manifest.ts';

/** What a read of a file gave. */
export interface Reading {
  readonly version: string;
  /** Equal contents have equal digests. */
  readonly digest: string;
  readonly manifest: Manifest;
}

/**
 * What the source believes about one manifest file. A faulty text may be half of a good one that is still being
 * written, so it is believed only when it has stayed the same for a while; until then the last good pods stand.
 *
 *   new, good, bad ──new faulty text──> doubted ──same text for `doubtMs`──> bad
 *                                       doubted ──another faulty text──> doubted anew
 *   new, good, doubted, bad ──good text──> good
 */
export type FileState = Reading & { readonly pods: readonly DesiredPod[] } & (
    | { readonly kind: 'good' }
    | { readonly kind: 'doubted'; readonly since: number }
    | { readonly kind: 'bad'; readonly kept: readonly DesiredPod[] }
  );

/** Three looks, 100 ms apart. */
export const lookAgainMs = 100;
export const doubtMs = 2 * lookAgainMs;

/** The state after a reading at monotonic time `now`. */
export function judgeFile(previous: FileState | undefined, reading: Reading, now: number): FileState {
  const { manifest } = reading;
  if (manifest.faults.length === 0) return { ...reading, kind: 'good', pods: manifest.pods };
  const lastGood = previous?.pods ?? [];
  if (previous === undefined || previous.digest !== reading.digest || previous.kind === 'good') {
    return { ...reading, kind: 'doubted', since: now, pods: lastGood };
  }
  if (previous.kind === 'bad') return { ...previous, version: reading.version };
  if (now - previous.since < doubtMs) return { ...previous, version: reading.version };
  // The good parts of a faulty file count; what cannot be told from the faulty parts stays as it was.
  const renewed = new Set(manifest.pods.map((pod) => pod.fullName));
  const kept = lastGood.filter((pod) => !renewed.has(pod.fullName));
  return { ...reading, kind: 'bad', kept, pods: [...manifest.pods, ...kept] };
}
