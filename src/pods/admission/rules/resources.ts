import { isCriticalPod } from '../../../model/qos.ts';
import { podReasons } from '../../../model/reasons.ts';
import { computeShortages } from '../shortages.ts';
import { admitted, rejected, type AdmissionInput, type PodAdmitResult } from '../pod-admit-result.ts';

/** What pods ask for is promised, so the sum must fit. Critical pods do not fail here: others may give way to them. */
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
