import { appArmor } from './rules/app-armor.ts';
import { evictionPressure } from './rules/eviction-pressure.ts';
import { initRestartPolicy } from './rules/init-restart-policy.ts';
import { nodeAffinity } from './rules/node-affinity.ts';
import { nodeInfo } from './rules/node-info.ts';
import { nodeName } from './rules/node-name.ts';
import { nodePorts } from './rules/node-ports.ts';
import { nodeShutdown } from './rules/node-shutdown.ts';
import { osField } from './rules/os-field.ts';
import { osLabel } from './rules/os-label.ts';
import { podFeatures } from './rules/pod-features.ts';
import { podSize } from './rules/pod-size.ts';
import { preemption } from './rules/preemption.ts';
import { resourceClaims } from './rules/resource-claims.ts';
import { resources } from './rules/resources.ts';
import { supplementalGroups } from './rules/supplemental-groups.ts';
import { sysctls } from './rules/sysctls.ts';
import { taints } from './rules/taints.ts';
import { admitted, type AdmissionInput, type AdmissionRule, type PodAdmitResult } from './pod-admit-result.ts';

/** The rules in their order. `resourceManagers` is the rule of the managers of CPUs, memory and devices. */
export function admissionChain(resourceManagers: AdmissionRule = () => admitted): readonly AdmissionRule[] {
  return [
    podSize,
    evictionPressure,
    sysctls,
    resourceManagers,
    resourceClaims,
    nodeInfo,
    osLabel,
    osField,
    supplementalGroups,
    initRestartPolicy,
    resources,
    nodeAffinity,
    nodeName,
    nodePorts,
    taints,
    preemption,
    appArmor,
    podFeatures,
    nodeShutdown,
  ];
}

/** The first rejection counts. Victims are named only if no later rule rejects the pod: none is preempted in vain. */
export function admitByRules(chain: readonly AdmissionRule[], input: AdmissionInput): PodAdmitResult {
  let admitResult: PodAdmitResult = admitted;
  for (const rule of chain) {
    const result = rule(input);
    if (result.admit === false) return result;
    if (result.admit === 'afterPreempting') admitResult = result;
  }
  return admitResult;
}
