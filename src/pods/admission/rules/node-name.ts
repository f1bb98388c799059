import { podReasons } from '../../../model/reasons.ts';
import { admissionMessages, predicateFailed } from '../messages.ts';
import { admitted, refused, type AdmissionInput, type Verdict } from '../verdict.ts';

export function nodeName({ pod, node }: AdmissionInput): Verdict {
  const wanted = pod.spec.nodeName ?? '';
  if (wanted === '' || wanted === node.name) return admitted;
  return refused(podReasons.nodeName, predicateFailed(podReasons.nodeName, admissionMessages.nodeName));
}
