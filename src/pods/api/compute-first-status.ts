import type { ContainerStatus, PodStatus } from '../../gen/kubernetes/types.ts';

interface FirstStatusInput {
  /** The pod was named before: the agent has published a status of its own since it started. */
  readonly isDesired: boolean;
  /** What the API server shows of the pod, in the pod itself or in the mirror pod of a static pod. */
  readonly reported: PodStatus | undefined;
  /** What a shutdown of this node left of the pod; undefined where the pod runs, or did not end so. */
  readonly shutdownEnd?: PodStatus | undefined;
}

/** Which of several statuses a pod begins with, and why. */
type FirstStatus =
  | { readonly use: 'own'; readonly reason: 'published since the start' }
  | {
      readonly use: 'checkpoint';
      readonly reason: 'the API server shows no containers' | 'the API server has not heard of its end';
    }
  | { readonly use: 'reported'; readonly reason: 'newer than a checkpoint'; readonly status: PodStatus };

/**
 * Container statuses of the API server precede a checkpoint, because another agent may have run on this node since the
 * checkpoint was written. Without them the checkpoint is used, and where a shutdown ended the pod and the API server could not
 * be told: it shows no container that started after that end.
 */
export function computeFirstStatus({ isDesired, reported, shutdownEnd }: FirstStatusInput): FirstStatus {
  if (isDesired) return { use: 'own', reason: 'published since the start' };
  if (reported === undefined || (reported.containerStatuses ?? []).length === 0) {
    return { use: 'checkpoint', reason: 'the API server shows no containers' };
  }
  if (shutdownEnd !== undefined && !hasStartedSince(shutdownEnd, reported)) {
    return { use: 'checkpoint', reason: 'the API server has not heard of its end' };
  }
  return { use: 'reported', reason: 'newer than a checkpoint', status: reported };
}

function hasStartedSince(end: PodStatus, reported: PodStatus): boolean {
  const ends = timesOf(end, ({ state, lastState }) => (state ?? lastState)?.terminated?.finishedAt);
  const starts = timesOf(reported, ({ state }) => state?.running?.startedAt ?? state?.terminated?.startedAt);
  // Without a time nothing is known: another agent may have started it.
  return ends.length === 0 || Math.max(...starts) > Math.max(...ends);
}

function timesOf(
  { containerStatuses = [] }: PodStatus,
  timeOf: (status: ContainerStatus) => string | undefined,
): readonly number[] {
  return containerStatuses.map((status) => Date.parse(timeOf(status) ?? '')).filter((time) => !Number.isNaN(time));
}
