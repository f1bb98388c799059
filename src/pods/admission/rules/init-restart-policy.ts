import { sidecarsOf } from '../../../model/containers.ts';
import { goQuote } from '../../../model/go-text.ts';
import { podReasons } from '../../../model/reasons.ts';
import { admitted, refused, type AdmissionInput, type Verdict } from '../verdict.ts';

/** Where sidecars are off, one would be waited for like a plain init container, and never end. */
export function initRestartPolicy({ pod, node }: AdmissionInput): Verdict {
  const sidecar = sidecarsOf(pod.spec)[0];
  if (sidecar === undefined || node.featureGates('SidecarContainers')) return admitted;
  const message = `Init container ${goQuote(sidecar.name)} may not have a non-default restartPolicy`;
  return refused(podReasons.initContainerRestartPolicyForbidden, message);
}
