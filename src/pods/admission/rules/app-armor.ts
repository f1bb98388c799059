import type { AppArmorSupport } from '../../../model/admission-node.ts';
import { allContainers } from '../../../model/containers.ts';
import { goQuote } from '../../../model/go-text.ts';
import { podPhases, podReasons } from '../../../model/reasons.ts';
import { isRefusal } from '../../../model/refusal.ts';
import { appArmorChoice } from '../../../model/security-context.ts';
import { admitted, rejected, type AdmissionInput, type PodAdmitResult } from '../pod-admit-result.ts';

/** Rejects a pod whose profile cannot be enforced, except one that has run: that one ran under its profile. */
export function appArmor({ pod, node }: AdmissionInput): PodAdmitResult {
  if ((pod.status.phase ?? podPhases.pending) !== podPhases.pending) return admitted;
  const fault = faultOf(pod, node.appArmor);
  return fault === undefined ? admitted : rejected(podReasons.appArmor, `Cannot enforce AppArmor: ${fault}`);
}

function faultOf(pod: AdmissionInput['pod'], support: AppArmorSupport): string | undefined {
  const choices = allContainers(pod.spec).map(({ container }) => appArmorChoice(pod, { ...container }));
  const confined = choices.filter(
    (choice) => choice !== undefined && (isRefusal(choice) || choice.type !== 'Unconfined'),
  );
  const ofPod = pod.spec.securityContext?.appArmorProfile?.type ?? 'Unconfined';
  if (confined.length === 0 && ofPod === 'Unconfined') return undefined;
  if (!support.enabled) return support.reason;
  for (const choice of confined) {
    if (isRefusal(choice)) return 'invalid empty AppArmor profile name: ""';
    if (choice?.type === 'Localhost' && support.profiles?.has(choice.reference) === false) {
      return `profile ${goQuote(choice.reference)} is not loaded`;
    }
  }
  return undefined;
}
