import type { ContainerStatus, PodStatus } from '../../gen/kubernetes/types.ts';

interface FirstStatusInput {
  /** The pod was named before: the agent has published a status of its own since it started. */
  readonly isDesired: boolean;
  /** What the API server shows of the pod, in the pod itself or in the mirror pod of a static pod. */
  readonly reported: PodStatus | undefined;
  /** The status that the agent's last run left of a static pod; pods of the API server have one life. */
  readonly checkpoint?: PodStatus | undefined;
  /** What a shutdown of this node left of the pod; undefined where the pod runs, or did not end so. */
  readonly shutdownEnd?: PodStatus | undefined;
}

/** Which of several statuses a pod begins with, and why. */
type FirstStatus =
  | { readonly use: 'own'; readonly reason: 'published since the start' }
  | {
      readonly use: 'checkpoint';
      readonly reason:
        | 'the API server shows no containers'
        | 'the API server shows a former life'
        | 'the API server has not heard of its end';
    }
  | { readonly use: 'reported'; readonly reason: 'newer than a checkpoint'; readonly status: PodStatus };

/**
 * Container statuses of the API server precede a checkpoint, because another agent may have run on this node since the
 * checkpoint was written. Without them the checkpoint is used, and where the API server did not get the end: of a life that began
 * after the one it shows, or that a shutdown ended the pod; then it shows no container that started after that end.
 */
export function computeFirstStatus({ isDesired, reported, checkpoint, shutdownEnd }: FirstStatusInput): FirstStatus {
  if (isDesired) return { use: 'own', reason: 'published since the start' };
  if (reported === undefined || (reported.containerStatuses ?? []).length === 0) {
    return { use: 'checkpoint', reason: 'the API server shows no containers' };
  }
  // A life keeps its start time, whichever agent reports it.
  if (startOf(checkpoint) > startOf(reported)) {
    return { use: 'checkpoint', reason: 'the API server shows a former life' };
  }
  if (shutdownEnd !== undefined && !hasStartedSince(shutdownEnd, reported)) {
    return { use: 'checkpoint', reason: 'the API server has not heard of its end' };
  }
  return { use: 'reported', reason: 'newer than a checkpoint', status: reported };
}

/** Not a number where it is unknown, which is neither before nor after any time. */
function startOf(status: PodStatus | undefined): number {
  return Date.parse(status?.startTime ?? '');
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
