import { hasPodLevelResources } from '../../../model/pod-resources.ts';
import { podReasons } from '../../../model/reasons.ts';
import { admissionMessages } from '../messages.ts';
import { admitted, refused, type AdmissionInput, type Verdict } from '../verdict.ts';

export function podFeatures({ pod, node }: AdmissionInput): Verdict {
  if (!hasPodLevelResources(pod.spec) || node.featureGates('PodLevelResources')) return admitted;
  return refused(podReasons.podLevelResourcesNotSupported, admissionMessages.podLevelResources);
}
