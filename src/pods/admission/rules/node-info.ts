import { podReasons } from '../../../model/reasons.ts';
import { admissionMessages } from '../messages.ts';
import { admitted, refused, type AdmissionInput, type Verdict } from '../verdict.ts';

/** Before the node knows itself, every other answer would be a guess. */
export function nodeInfo({ node }: AdmissionInput): Verdict {
  const known = node.name !== '' && Object.keys(node.allocatable).length > 0;
  return known ? admitted : refused(podReasons.invalidNodeInfo, admissionMessages.nodeInfo);
}
