import { podReasons } from '../../../model/reasons.ts';
import { admissionMessages } from '../messages.ts';
import { admitted, rejected, type AdmissionInput, type PodAdmitResult } from '../pod-admit-result.ts';

/** Before the node knows itself, every other answer would be a guess. */
export function nodeInfo({ node }: AdmissionInput): PodAdmitResult {
  const known = node.name !== '' && Object.keys(node.allocatable).length > 0;
  return known ? admitted : rejected(podReasons.invalidNodeInfo, admissionMessages.nodeInfo);
}
