import type { PodStatus } from '../../gen/kubernetes/types.ts';
import { apiTime } from '../../model/api-time.ts';
import { isStatic, type DesiredPod } from '../../model/desired-pod.ts';
import type { ObjectEvent } from '../../model/object-event.ts';
import { podQos } from '../../model/qos.ts';
import { podMessages, podPhases, podReasons } from '../../model/reasons.ts';
import type { Rejected } from './pod-admit-result.ts';

interface Rejection {
  readonly status: PodStatus;
  readonly event: ObjectEvent;
}

/** The status and event of a rejected pod: it failed before it began, so there is nothing else to report. */
export function rejectedStatus(pod: DesiredPod, { reason, message }: Rejected, nowMs: number): Rejection {
  const generation = isStatic(pod) ? undefined : pod.metadata.generation;
  return {
    status: {
      ...(generation !== undefined && { observedGeneration: generation }),
      phase: podPhases.failed,
      message: `${podMessages.rejectedPrefix}${message}`,
      reason,
      startTime: pod.status.startTime ?? apiTime(nowMs),
      qosClass: podQos(pod),
    },
    event: { type: 'Warning', reason, message },
  };
}

const countedByName: ReadonlySet<string> = new Set([
  ...Object.values(podReasons),
  ...['cpu', 'memory', 'ephemeral-storage', 'pods'].map((resource) => `${podReasons.outOfPrefix}${resource}`),
]);

/** The reason as a metric label. Names of vendors' resources are not bounded, labels must be. */
export function rejectionLabel(reason: string): string {
  if (countedByName.has(reason)) return reason;
  return reason.startsWith(podReasons.outOfPrefix) ? 'OutOfExtendedResources' : 'Other';
}
