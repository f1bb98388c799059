import { podReasons } from '../../../model/reasons.ts';
import { admissionMessages } from '../messages.ts';
import { admitted, refused, type AdmissionInput, type Verdict } from '../verdict.ts';

export function nodeShutdown({ node }: AdmissionInput): Verdict {
  return node.shuttingDown ? refused(podReasons.nodeShutdown, admissionMessages.nodeShutdown) : admitted;
}
