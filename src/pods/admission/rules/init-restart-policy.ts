import { sidecarsOf } from '../../../model/containers.ts';
import { goQuote } from '../../../model/go-text.ts';
import { podReasons } from '../../../model/reasons.ts';
import { admitted, rejected, type AdmissionInput, type PodAdmitResult } from '../pod-admit-result.ts';

/** Where sidecars are off, the pod would wait for one like for a plain init container, and never start. */
export function initRestartPolicy({ pod, node }: AdmissionInput): PodAdmitResult {
  const sidecar = sidecarsOf(pod.spec)[0];
  if (sidecar === undefined || node.featureGates('SidecarContainers')) return admitted;
  const message = `Init container ${goQuote(sidecar.name)} may not have a non-default restartPolicy`;
  return rejected(podReasons.initContainerRestartPolicyForbidden, message);
}
