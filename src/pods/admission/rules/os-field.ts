import { podReasons } from '../../../model/reasons.ts';
import { admissionMessages } from '../messages.ts';
import { admitted, refused, type AdmissionInput, type Verdict } from '../verdict.ts';

export function osField({ pod, node }: AdmissionInput): Verdict {
  const wanted = pod.spec.os?.name;
  if (wanted === undefined || wanted === node.os) return admitted;
  return refused(podReasons.podOsNotSupported, admissionMessages.osField);
}
