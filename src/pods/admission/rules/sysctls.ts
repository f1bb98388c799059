import { goQuote } from '../../../model/go-text.ts';
import { podReasons } from '../../../model/reasons.ts';
import { dottedSysctl } from '../../../model/sysctl-names.ts';
import { allowedIn, allowedSysctls, type AllowedSysctls } from '../sysctl-names.ts';
import { admitted, rejected, type AdmissionInput, type PodAdmitResult } from '../pod-admit-result.ts';

/** Only sysctls are allowed that are known to be namespaced: others would change the node and other pods. */
export function sysctls({ pod, node }: AdmissionInput): PodAdmitResult {
  const requested = pod.spec.securityContext?.sysctls ?? [];
  if (requested.length === 0) return admitted;
  const allowed = allowedSysctls(node.kernelVersion, node.allowedUnsafeSysctls);
  const shared = { net: pod.spec.hostNetwork === true, ipc: pod.spec.hostIPC === true };
  for (const { name } of requested) {
    const fault = faultOf(dottedSysctl(name), allowed, shared);
    if (fault !== undefined) return rejected(podReasons.sysctlForbidden, `forbidden sysctl: ${fault}`);
  }
  return admitted;
}

function faultOf(
  name: string,
  allowed: AllowedSysctls,
  shared: { readonly net: boolean; readonly ipc: boolean },
): string | undefined {
  const namespace = allowedIn(name, allowed);
  if (namespace === undefined) return `${goQuote(name)} not allowlisted`;
  return shared[namespace] ? `${goQuote(name)} not allowed with host ${namespace} enabled` : undefined;
}
