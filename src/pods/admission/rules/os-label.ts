import { podReasons } from '../../../model/reasons.ts';
import { admissionMessages } from '../messages.ts';
import { admitted, rejected, type AdmissionInput, type PodAdmitResult } from '../pod-admit-result.ts';

/** A pod may name its OS in its own label; it is compared with the OS of the agent, not with the node's label. */
export function osLabel({ pod, node }: AdmissionInput): PodAdmitResult {
  const podOs = pod.metadata.labels?.['kubernetes.io/os'];
  if (podOs === undefined || podOs === node.os) return admitted;
  return rejected(podReasons.podOsSelectorNodeLabelDoesNotMatch, admissionMessages.osLabel);
}
