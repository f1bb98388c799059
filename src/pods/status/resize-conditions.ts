import type { PodCondition, PodStatus } from '../../gen/kubernetes/types.ts';
import { apiTime } from '../../model/api-time.ts';
import { isTerminalPhase, podConditions } from '../../model/reasons.ts';
import type { ResizeRefusal } from '../../model/refusal.ts';

interface ResizeConditionsInput {
  readonly refusal: ResizeRefusal | undefined;
  readonly phase: string;
  readonly previous: PodStatus;
  readonly nowMs: number;
}

/** The condition of a resize that is not carried out; a pod in a terminal phase has none. */
export function resizeConditions({ refusal, phase, previous, nowMs }: ResizeConditionsInput): readonly PodCondition[] {
  if (refusal === undefined || isTerminalPhase(phase)) return [];
  const { reason, message, generation } = refusal;
  const type = podConditions.resizePending;
  const before = previous.conditions?.find((condition) => condition.type === type && condition.reason === reason);
  const now = apiTime(nowMs);
  return [
    {
      type,
      status: 'True',
      reason,
      message,
      lastProbeTime: before?.lastProbeTime ?? now,
      lastTransitionTime: before?.lastTransitionTime ?? now,
      ...(generation !== undefined && { observedGeneration: generation }),
    },
  ];
}
