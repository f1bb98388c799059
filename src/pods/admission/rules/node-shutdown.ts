import { podReasons } from '../../../model/reasons.ts';
import { admissionMessages } from '../messages.ts';
import { admitted, rejected, type AdmissionInput, type PodAdmitResult } from '../pod-admit-result.ts';

export function nodeShutdown({ node }: AdmissionInput): PodAdmitResult {
  return node.shuttingDown ? rejected(podReasons.nodeShutdown, admissionMessages.nodeShutdown) : admitted;
}
