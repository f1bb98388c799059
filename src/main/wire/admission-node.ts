import { arch, release } from 'node:os';
import { existsSync } from 'node:fs';
import type { Settings } from '../../config/index.ts';
import { goArchitecture } from '../../model/architecture.ts';
import type { AdmissionNode } from '../../pods/admission/index.ts';

/** The node without what the runtime says, or the API server may change. */
export type NodeWithoutRuntime = Omit<
  AdmissionNode,
  'supplementalGroupsPolicySupported' | 'labels' | 'taints' | 'allocatable'
>;

export interface AdmissionNodeInput {
  readonly settings: Settings;
  readonly nodeName: string;
}

/** The node as admission sees it. What pressure changes comes with the parts that watch it. */
export function admissionNode({ settings, nodeName }: AdmissionNodeInput): NodeWithoutRuntime {
  const { config, featureGates } = settings;
  return {
    name: nodeName,
    os: 'linux',
    arch: goArchitecture(arch()),
    kernelVersion: release(),
    pressure: [],
    shuttingDown: false,
    appArmor: existsSync('/sys/kernel/security/apparmor/profiles')
      ? { enabled: true, reason: '' }
      : { enabled: false, reason: 'AppArmor is not enabled on the host' },
    allowedUnsafeSysctls: config.allowedUnsafeSysctls,
    featureGates: (name) => featureGates.all[name] ?? false,
  };
}
