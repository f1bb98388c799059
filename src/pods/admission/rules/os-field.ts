import { podReasons } from '../../../model/reasons.ts';
import { admissionMessages } from '../messages.ts';
import { admitted, rejected, type AdmissionInput, type PodAdmitResult } from '../pod-admit-result.ts';

export function osField({ pod, node }: AdmissionInput): PodAdmitResult {
  const podOs = pod.spec.os?.name;
  if (podOs === undefined || podOs === node.os) return admitted;
  return rejected(podReasons.podOsNotSupported, admissionMessages.osField);
}
