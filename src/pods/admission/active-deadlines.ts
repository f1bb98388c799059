import type { Clock } from '../../base/clock.ts';
import type { PodStatus } from '../../gen/kubernetes/types.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { activeDeadline, deadlineDecision } from './active-deadline.ts';

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
