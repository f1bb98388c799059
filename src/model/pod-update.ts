import type { DesiredPod, PodSource } from './desired-pod.ts';

/**
 * What changed in one source. `set` is the first update of a source without pods, so that the source counts as seen; the
 * others carry the pods that changed.
 */
export type PodUpdateOp = 'add' | 'update' | 'delete' | 'remove' | 'reconcile' | 'set';

export interface PodUpdate {
  readonly op: PodUpdateOp;
  readonly source: PodSource;
  readonly pods: readonly DesiredPod[];
}
