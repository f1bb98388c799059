import { isStatic } from '../../../model/desired-pod.ts';
import { podReasons } from '../../../model/reasons.ts';
import { admissionMessages, predicateFailed } from '../messages.ts';
import { tolerates } from '../tolerations.ts';
import { admitted, rejected, type AdmissionInput, type PodAdmitResult } from '../pod-admit-result.ts';

/** Only NoExecute taints count here, because they evict running pods; the others are for the scheduler. */
export function taints({ pod, node }: AdmissionInput): PodAdmitResult {
  if (isStatic(pod)) return admitted;
  const driving = node.taints.filter(({ effect }) => effect === 'NoExecute');
  if (driving.every((taint) => tolerates(pod.spec.tolerations, taint))) return admitted;
  const message = predicateFailed(podReasons.taintToleration, admissionMessages.taintToleration);
  return rejected(podReasons.taintToleration, message);
}
