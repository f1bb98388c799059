import { podReasons } from '../../../model/reasons.ts';
import { admissionMessages, predicateFailed } from '../messages.ts';
import { admitted, rejected, type AdmissionInput, type PodAdmitResult } from '../pod-admit-result.ts';

export function nodeName({ pod, node }: AdmissionInput): PodAdmitResult {
  const nodeNameOfPod = pod.spec.nodeName ?? '';
  if (nodeNameOfPod === '' || nodeNameOfPod === node.name) return admitted;
  return rejected(podReasons.nodeName, predicateFailed(podReasons.nodeName, admissionMessages.nodeName));
}
