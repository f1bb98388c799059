import type { DesiredPod } from '../../model/desired-pod.ts';
import { podMessages, podReasons } from '../../model/reasons.ts';

interface ActiveDeadline {
  readonly exceeded: boolean;
  /** How long until it will be; unset where there is no deadline or nothing to measure it from. */
  readonly inMs?: number;
}

/** How the pod ends, for its status. */
export const deadlineDecision = {
  reason: podReasons.deadlineExceeded,
  message: podMessages.deadlineExceeded,
} as const;

/** Whether a pod has been on the node for longer than it may, from the start time in its status on. */
export function activeDeadline(
  pod: Pick<DesiredPod, 'spec'>,
  startTimeMs: number | undefined,
  nowMs: number,
): ActiveDeadline {
  const seconds = pod.spec.activeDeadlineSeconds;
  if (seconds === undefined || startTimeMs === undefined) return { exceeded: false };
  const inMs = startTimeMs + seconds * 1_000 - nowMs;
  return inMs <= 0 ? { exceeded: true } : { exceeded: false, inMs };
}
