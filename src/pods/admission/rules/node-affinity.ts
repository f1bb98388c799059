import { ownValue } from '../../../base/own-value.ts';
import { isStatic } from '../../../model/desired-pod.ts';
import { podReasons } from '../../../model/reasons.ts';
import { admissionMessages, predicateFailed } from '../messages.ts';
import { matchesNodeSelector } from '../../../model/node-selector.ts';
import { admitted, rejected, type AdmissionInput, type PodAdmitResult } from '../pod-admit-result.ts';

/** Static pods were placed on this node by its administrator: their affinity is not checked. */
export function nodeAffinity({ pod, node }: AdmissionInput): PodAdmitResult {
  if (isStatic(pod)) return admitted;
  // The agent knows these of its machine also before the node's labels have them.
  const labels: Readonly<Record<string, string>> = {
    'kubernetes.io/os': node.os,
    'kubernetes.io/arch': node.arch,
    ...node.labels,
  };
  const selected = Object.entries(pod.spec.nodeSelector ?? {}).every(([key, value]) => ownValue(labels, key) === value);
  const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (selected && (required === undefined || matchesNodeSelector(required, { name: node.name, labels }))) {
    return admitted;
  }
  return rejected(podReasons.nodeAffinity, predicateFailed(podReasons.nodeAffinity, admissionMessages.nodeAffinity));
}
