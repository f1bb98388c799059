import { podReasons } from '../../../model/reasons.ts';
import { admissionMessages } from '../messages.ts';
import { admitted, rejected, type AdmissionInput, type PodAdmitResult } from '../pod-admit-result.ts';

export function osField({ pod, node }: AdmissionInput): PodAdmitResult {
  const wanted = pod.spec.os?.name;
  if (wanted === undefined || wanted === node.os) return admitted;
  return rejected(podReasons.podOsNotSupported, admissionMessages.osField);
}
