import { cutText } from '../../../base/cut-text.ts';
import { podReasons } from '../../../model/reasons.ts';
import { admitted, rejected, type AdmissionInput, type PodAdmitResult } from '../pod-admit-result.ts';

/** Of names in a message. */
const maxNamesBytes = 1_024;

/** This agent cannot prepare claims: a pod that started without its devices would fail later for no visible reason. */
export function resourceClaims({ pod }: AdmissionInput): PodAdmitResult {
  const claims = pod.spec.resourceClaims ?? [];
  if (claims.length === 0) return admitted;
  const names = cutText(claims.map(({ name }) => name).join(', '), maxNamesBytes);
  const message = `Allocate failed due to resource claims (${names}), which this kubelet cannot prepare: it has no dynamic resource allocation`;
  return rejected(podReasons.unexpectedAdmissionError, message);
}
