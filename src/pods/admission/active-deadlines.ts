import { podMessages, podReasons } from '../../model/reasons.ts';
import type { Clock } from '../../base/clock.ts';
import type { PodStatus } from '../../gen/kubernetes/types.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';

/** Why a pod must end now, or how long until it must; neither without a deadline. */
interface DeadlineCheck {
  readonly end?: typeof deadlineDecision;
  readonly inMs?: number;
}

/** `activeDeadlineSeconds`, counted from the start time in the pod's status. */
export function activeDeadlines(clock: Pick<Clock, 'now'>): {
  check(pod: DesiredPod, status: PodStatus): DeadlineCheck;
} {
  return {
    check(pod, { startTime }) {
      const began = startTime === undefined ? undefined : Date.parse(startTime);
      const { exceeded, inMs } = activeDeadline(pod, began, clock.now());
      if (exceeded) return { end: deadlineDecision };
      return inMs === undefined ? {} : { inMs };
    },
  };
}

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
