import { ownValue } from '../../../base/own-value.ts';
import { isStatic } from '../../../model/desired-pod.ts';
import { podReasons } from '../../../model/reasons.ts';
import { admissionMessages, predicateFailed } from '../messages.ts';
import { matchesNodeSelector } from '../../../model/node-selector.ts';
import { admitted, rejected, type AdmissionInput, type PodAdmitResult } from '../pod-admit-result.ts';

/** Static pods were put on this node by its owner: no label says otherwise. */
export function nodeAffinity({ pod, node }: AdmissionInput): PodAdmitResult {
  if (isStatic(pod)) return admitted;
  // What the agent knows of its machine holds before somebody has written it into the labels.
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
