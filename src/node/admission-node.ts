import type { AdmissionNode } from '../model/admission-node.ts';
import type { KernelFacts } from '../model/host-facts.ts';
import { pressureConditions, type NodeConditions } from './node-conditions.ts';
import type { NodeReader } from './node-view.ts';

/** The configuration of a node's admission. */
export interface AdmissionNodeSettings {
  readonly nodeName: string;
  readonly allowedUnsafeSysctls: readonly string[];
  readonly featureGates: (name: string) => boolean;
}

interface AdmissionNodeSources {
  readonly settings: AdmissionNodeSettings;
  readonly kernel: KernelFacts;
  readonly view: Pick<NodeReader, 'labels' | 'taints' | 'allocatable'>;
  readonly health: { features(): { readonly supplementalGroupsPolicy: boolean } };
  readonly conditions: NodeConditions;
}

export function admissionNode({ settings, kernel, view, health, conditions }: AdmissionNodeSources): AdmissionNode {
  const { nodeName, allowedUnsafeSysctls, featureGates } = settings;
  return {
    name: nodeName,
    labels: view.labels(),
    taints: view.taints(),
    allocatable: view.allocatable(),
    os: 'linux',
    arch: kernel.architecture,
    kernelVersion: kernel.kernelVersion,
    pressure: pressureConditions(conditions.pressure()),
    shuttingDown: conditions.shuttingDown(),
    appArmor: kernel.hasAppArmor
      ? { enabled: true, reason: '' }
      : { enabled: false, reason: 'AppArmor is not enabled on the host' },
    allowedUnsafeSysctls,
    supplementalGroupsPolicySupported: health.features().supplementalGroupsPolicy,
    featureGates,
  };
}
