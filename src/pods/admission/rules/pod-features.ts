import { hasPodLevelResources } from '../../../model/pod-resources.ts';
import { podReasons } from '../../../model/reasons.ts';
import { admissionMessages } from '../messages.ts';
import { admitted, rejected, type AdmissionInput, type PodAdmitResult } from '../pod-admit-result.ts';

export function podFeatures({ pod, node }: AdmissionInput): PodAdmitResult {
  if (!hasPodLevelResources(pod.spec) || node.featureGates('PodLevelResources')) return admitted;
  return rejected(podReasons.podLevelResourcesNotSupported, admissionMessages.podLevelResources);
}
