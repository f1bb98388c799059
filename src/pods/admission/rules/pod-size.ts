import { isPodTooLarge, maxPodBytes } from '../../../model/pod-size.ts';
import { podReasons } from '../../../model/reasons.ts';
import { admissionMessages } from '../messages.ts';
import { admitted, rejected, type AdmissionInput, type PodAdmitResult } from '../pod-admit-result.ts';

/** Asked first: of a pod of the API server that is too large there is nothing left that others could ask about. */
export function podSize({ pod }: AdmissionInput): PodAdmitResult {
  if (!isPodTooLarge({ metadata: pod.metadata, spec: pod.spec })) return admitted;
  return rejected(podReasons.podTooLarge, admissionMessages.podTooLarge(maxPodBytes));
}
