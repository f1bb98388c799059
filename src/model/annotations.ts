import type { ObjectMeta } from '../gen/kubernetes/types.ts';
import type { PodSource } from './desired-pod.ts';

/** The annotations in which a kubelet records the source of a pod. */
export const configAnnotations = {
  /** Which source gave the pod: file, http or api. */
  source: 'kubernetes.io/config.source',
  /** When this agent first saw the pod; stays the same while the pod lives. */
  seen: 'kubernetes.io/config.seen',
  /** The identity of a static pod's content: its uid. */
  hash: 'kubernetes.io/config.hash',
  /** On a mirror pod, the hash of the static pod that it mirrors. */
  mirror: 'kubernetes.io/config.mirror',
} as const;

/** Annotations that the agent or its mirror client writes itself; a difference in them is no change of the pod. */
export const localAnnotations: ReadonlySet<string> = new Set([
  configAnnotations.source,
  configAnnotations.seen,
  configAnnotations.mirror,
]);

export function isMirrorPod(metadata: ObjectMeta): boolean {
  return metadata.annotations?.[configAnnotations.mirror] !== undefined;
}

/** Metadata that names its source and the moment it was first seen; a moment noted before is overwritten. */
export function withConfigSource(metadata: ObjectMeta, source: PodSource, seen: string): ObjectMeta {
  return {
    ...metadata,
    annotations: {
      ...metadata.annotations,
      [configAnnotations.source]: source,
      [configAnnotations.seen]: seen,
    },
  };
}

/** A wall time in milliseconds as RFC 3339, without trailing zeros of the second. */
export function seenTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace(/\.?0*Z$/, 'Z');
}
