import { podReasons } from '../../../model/reasons.ts';
import { admissionMessages } from '../messages.ts';
import { admitted, refused, type AdmissionInput, type Verdict } from '../verdict.ts';

/** A runtime that does not know the policy would merge the image's groups in, which Strict is there to prevent. */
export function supplementalGroups({ pod, node }: AdmissionInput): Verdict {
  const strict = pod.spec.securityContext?.supplementalGroupsPolicy === 'Strict';
  if (!strict || node.supplementalGroupsPolicySupported) return admitted;
  return refused(podReasons.supplementalGroupsPolicyNotSupported, admissionMessages.supplementalGroupsPolicy);
}
