import type { DesiredPod, PodSource } from './desired-pod.ts';

/**
 * What changed in one source. `set` marks the first word of a source that had no pods, so that the source counts as
 * heard; the others carry the pods concerned.
 */
export type PodUpdateOp = 'add' | 'update' | 'delete' | 'remove' | 'reconcile' | 'set';

export interface PodUpdate {
  readonly op: PodUpdateOp;
  readonly source: PodSource;
  readonly pods: readonly DesiredPod[];
}
