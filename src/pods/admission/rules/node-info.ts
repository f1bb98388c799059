import { podReasons } from '../../../model/reasons.ts';
import { admissionMessages } from '../messages.ts';
import { admitted, rejected, type AdmissionInput, type PodAdmitResult } from '../pod-admit-result.ts';

/** Rejects while the node's allocatable resources are unknown: later rules could not decide. */
export function nodeInfo({ node }: AdmissionInput): PodAdmitResult {
  const known = node.name !== '' && Object.keys(node.allocatable).length > 0;
  return known ? admitted : rejected(podReasons.invalidNodeInfo, admissionMessages.nodeInfo);
}
