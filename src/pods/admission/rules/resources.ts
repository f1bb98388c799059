import { isCriticalPod } from '../../../model/qos.ts';
import { podReasons } from '../../../model/reasons.ts';
import { computeShortages } from '../shortages.ts';
import { admitted, rejected, type AdmissionInput, type PodAdmitResult } from '../pod-admit-result.ts';

/** The requests of all active pods must fit on the node. Critical pods are left to the rule on preemption. */
export function resources(input: AdmissionInput): PodAdmitResult {
  if (isCriticalPod(input.pod)) return admitted;
  const shortage = computeShortages(input)[0];
  if (shortage === undefined) return admitted;
  const { resource, requested, used, capacity } = shortage;
  return rejected(
    `${podReasons.outOfPrefix}${resource}`,
    `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
  );
}
