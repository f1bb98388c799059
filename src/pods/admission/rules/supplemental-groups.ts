import { podReasons } from '../../../model/reasons.ts';
import { admissionMessages } from '../messages.ts';
import { admitted, rejected, type AdmissionInput, type PodAdmitResult } from '../pod-admit-result.ts';

/** A runtime that does not know the policy would merge the image's groups in, which Strict is there to prevent. */
export function supplementalGroups({ pod, node }: AdmissionInput): PodAdmitResult {
  const strict = pod.spec.securityContext?.supplementalGroupsPolicy === 'Strict';
  if (!strict || node.supplementalGroupsPolicySupported) return admitted;
  return rejected(podReasons.supplementalGroupsPolicyNotSupported, admissionMessages.supplementalGroupsPolicy);
}
