import { isPodTooLarge, maxPodBytes } from '../../../model/pod-size.ts';
import { podReasons } from '../../../model/reasons.ts';
import { admissionMessages } from '../messages.ts';
import { admitted, rejected, type AdmissionInput, type PodAdmitResult } from '../pod-admit-result.ts';

/** The first rule, because nothing is kept of the spec of a pod that is too large, and later rules would find it empty. */
export function podSize({ pod }: AdmissionInput): PodAdmitResult {
  if (!isPodTooLarge({ metadata: pod.metadata, spec: pod.spec })) return admitted;
  return rejected(podReasons.podTooLarge, admissionMessages.podTooLarge(maxPodBytes));
}
