import type { DesiredPod } from '../../model/desired-pod.ts';
import { objectKey, type StandaloneObject } from '../../model/standalone-object.ts';
import type { Contents, Manifest } from './manifest.ts';

/** What a read of a file gave. */
export interface Reading {
  readonly version: string;
  /** Equal contents have equal digests. */
  readonly digest: string;
  readonly manifest: Manifest;
}

/**
 * What the source believes about one manifest file. A faulty text may be half of a good one that is still being
 * written, so it is believed only when it has stayed the same for a while; until then the last good contents stand.
 *
 *   new, good, bad ──new faulty text──> doubted ──same text for `doubtMs`──> bad
 *                                       doubted ──another faulty text──> doubted anew
 *   new, good, doubted, bad ──good text──> good
 */
export type FileState = Reading &
  Contents &
  (
    | { readonly kind: 'good' }
    | { readonly kind: 'doubted'; readonly since: number }
    | { readonly kind: 'bad'; readonly kept: Contents }
  );

/** Three looks, 100 ms apart. */
export const lookAgainMs = 100;
export const doubtMs = 2 * lookAgainMs;

const nothing: Contents = { pods: [], objects: [] };

/** The state after a reading at monotonic time `now`. */
export function judgeFile(previous: FileState | undefined, reading: Reading, now: number): FileState {
  const { manifest } = reading;
  if (manifest.faults.length === 0) {
    return { ...reading, kind: 'good', pods: manifest.pods, objects: manifest.objects };
  }
  const { pods, objects } = previous ?? nothing;
  if (previous === undefined || previous.digest !== reading.digest || previous.kind === 'good') {
    return { ...reading, kind: 'doubted', since: now, pods, objects };
  }
  if (previous.kind === 'bad') return { ...previous, version: reading.version };
  if (now - previous.since < doubtMs) return { ...previous, version: reading.version };
  const kept = { pods: notRenewed(pods, manifest.pods), objects: objectsNotRenewed(objects, manifest.objects) };
  return {
    ...reading,
    kind: 'bad',
    kept,
    pods: [...manifest.pods, ...kept.pods],
    objects: [...manifest.objects, ...kept.objects],
  };
}

/**
 * The pods of the last good text that a faulty one says nothing of: its good parts count; what cannot be told from the
 * faulty parts stays as it was.
 */
export function notRenewed(lastGood: readonly DesiredPod[], good: readonly DesiredPod[]): readonly DesiredPod[] {
  const renewed = new Set(good.map((pod) => pod.fullName));
  return lastGood.filter((pod) => !renewed.has(pod.fullName));
}

function objectsNotRenewed(
  lastGood: readonly StandaloneObject[],
  good: readonly StandaloneObject[],
): readonly StandaloneObject[] {
  const renewed = new Set(good.map(objectKey));
  return lastGood.filter((object) => !renewed.has(objectKey(object)));
}
