import type { Clock } from '../../base/clock.ts';
import { activeDeadline, deadlineDecision } from '../../pods/admission/index.ts';
import type { Deadlines } from '../../pods/sync/index.ts';

/** `activeDeadlineSeconds`, counted from the start time in the pod's status. */
export function activeDeadlines(clock: Pick<Clock, 'now'>): Deadlines {
  return {
    check(pod, { startTime }) {
      const began = startTime === undefined ? undefined : Date.parse(startTime);
      const { exceeded, inMs } = activeDeadline(pod, began, clock.now());
      if (exceeded) return { end: deadlineDecision };
      return inMs === undefined ? {} : { inMs };
    },
  };
}
