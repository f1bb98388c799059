import { isStatic } from '../../../model/desired-pod.ts';
import { podReasons } from '../../../model/reasons.ts';
import { admissionMessages, predicateFailed } from '../messages.ts';
import { tolerates } from '../tolerations.ts';
import { admitted, refused, type AdmissionInput, type Verdict } from '../verdict.ts';

/** Only taints that drive running pods away count here; where pods should go is the scheduler's business. */
export function taints({ pod, node }: AdmissionInput): Verdict {
  if (isStatic(pod)) return admitted;
  const driving = node.taints.filter(({ effect }) => effect === 'NoExecute');
  if (driving.every((taint) => tolerates(pod.spec.tolerations, taint))) return admitted;
  const message = predicateFailed(podReasons.taintToleration, admissionMessages.taintToleration);
  return refused(podReasons.taintToleration, message);
}
