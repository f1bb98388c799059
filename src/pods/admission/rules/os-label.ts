import { podReasons } from '../../../model/reasons.ts';
import { admissionMessages } from '../messages.ts';
import { admitted, rejected, type AdmissionInput, type PodAdmitResult } from '../pod-admit-result.ts';

/** A pod may name its system in its own label; the node's label is not asked, the agent knows where it runs. */
export function osLabel({ pod, node }: AdmissionInput): PodAdmitResult {
  const wanted = pod.metadata.labels?.['kubernetes.io/os'];
  if (wanted === undefined || wanted === node.os) return admitted;
  return rejected(podReasons.podOsSelectorNodeLabelDoesNotMatch, admissionMessages.osLabel);
}
