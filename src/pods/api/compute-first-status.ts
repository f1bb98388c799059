import type { PodStatus } from '../../gen/kubernetes/types.ts';

interface FirstStatusInput {
  /** The pod was named before: the agent has published a status of its own since it started. */
  readonly isDesired: boolean;
  /** What the API server shows of the pod, in the pod itself or in the mirror pod of a static pod. */
  readonly reported: PodStatus | undefined;
}

/** Which of several statuses a pod begins with, and why. */
type FirstStatus =
  | { readonly use: 'own'; readonly reason: 'published since the start' }
  | { readonly use: 'checkpoint'; readonly reason: 'the API server shows no containers' }
  | { readonly use: 'reported'; readonly reason: 'newer than a checkpoint'; readonly status: PodStatus };

/**
 * Container statuses of the API server precede a checkpoint, because another agent may have run on this node since the
 * checkpoint was written. Without them the checkpoint is used.
 */
export function computeFirstStatus({ isDesired, reported }: FirstStatusInput): FirstStatus {
  if (isDesired) return { use: 'own', reason: 'published since the start' };
  if (reported === undefined || (reported.containerStatuses ?? []).length === 0) {
    return { use: 'checkpoint', reason: 'the API server shows no containers' };
  }
  return { use: 'reported', reason: 'newer than a checkpoint', status: reported };
}
