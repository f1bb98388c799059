import type { DesiredPod } from '../../model/desired-pod.ts';
import { objectKey, type StandaloneObject } from '../../model/standalone-object.ts';
import type { Contents, Manifest } from './manifest.ts';

/** What a read of a file gave. */
export interface ManifestReading {
  readonly version: string;
  /** Equal contents have equal digests. */
  readonly digest: string;
  readonly manifest: Manifest;
}

/**
 * What the source knows of one manifest file. A faulty text may be half of a good one that is still being written, so it
 * counts only when it has stayed the same for `settleMs`; until then the file is unstable and the last good contents stand.
 *
 *   new, good, bad ──new faulty text──> unstable ──same text for `settleMs`──> bad
 *                                       unstable ──another faulty text──> unstable from then on
 *   new, good, unstable, bad ──good text──> good
 */
export type FileState = ManifestReading &
  Contents &
  (
    | { readonly kind: 'good' }
    | { readonly kind: 'unstable'; readonly since: number }
    | { readonly kind: 'bad'; readonly kept: Contents }
  );

/** An unstable file is read three times, 100 ms apart. */
export const rereadMs = 100;
export const settleMs = 2 * rereadMs;

const nothing: Contents = { pods: [], objects: [] };

/** The state after a reading at monotonic time `now`. */
export function classifyManifest(previous: FileState | undefined, reading: ManifestReading, now: number): FileState {
  const { manifest } = reading;
  if (manifest.faults.length === 0) {
    return { ...reading, kind: 'good', pods: manifest.pods, objects: manifest.objects };
  }
  const { pods, objects } = previous ?? nothing;
  if (previous === undefined || previous.digest !== reading.digest || previous.kind === 'good') {
    return { ...reading, kind: 'unstable', since: now, pods, objects };
  }
  if (previous.kind === 'bad') return { ...previous, version: reading.version };
  if (now - previous.since < settleMs) return { ...previous, version: reading.version };
  const kept = { pods: podsToKeep(pods, manifest.pods), objects: objectsToKeep(objects, manifest.objects) };
  return {
    ...reading,
    kind: 'bad',
    kept,
    pods: [...manifest.pods, ...kept.pods],
    objects: [...manifest.objects, ...kept.objects],
  };
}

/**
 * The pods of the last good text that a faulty one does not name: its good parts count, and pods that only its faulty
 * parts could name stay as they were.
 */
export function podsToKeep(lastGood: readonly DesiredPod[], good: readonly DesiredPod[]): readonly DesiredPod[] {
  const renewed = new Set(good.map((pod) => pod.fullName));
  return lastGood.filter((pod) => !renewed.has(pod.fullName));
}

function objectsToKeep(
  lastGood: readonly StandaloneObject[],
  good: readonly StandaloneObject[],
): readonly StandaloneObject[] {
  const renewed = new Set(good.map(objectKey));
  return lastGood.filter((object) => !renewed.has(objectKey(object)));
}
