import { arch, release } from 'node:os';
import { existsSync } from 'node:fs';
import type { Settings } from '../../config/index.ts';
import type { Machine } from '../../host/index.ts';
import type { AdmissionNode } from '../../pods/admission/index.ts';

/** How Kubernetes calls the architectures that Node.js runs on. */
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64', ia32: '386', ppc64: 'ppc64le' };

export interface AdmissionNodeInput {
  readonly settings: Settings;
  readonly nodeName: string;
  readonly machine: Machine;
  readonly ephemeralBytes: bigint;
}

/** The node as admission sees it. What reserves and pressure change comes with the parts that watch them. */
export function admissionNode({ settings, nodeName, machine, ephemeralBytes }: AdmissionNodeInput): AdmissionNode {
  const { config, flags, featureGates } = settings;
  const architecture = architectures[arch()] ?? arch();
  return {
    name: nodeName,
    labels: {
      'kubernetes.io/hostname': nodeName,
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': architecture,
      ...flags.nodeLabels,
    },
    taints: config.registerWithTaints,
    allocatable: {
      cpu: String(machine.cpus),
      memory: String(machine.memoryBytes),
      'ephemeral-storage': String(ephemeralBytes),
      pods: String(config.maxPods),
    },
    os: 'linux',
    arch: architecture,
    kernelVersion: release(),
    pressure: [],
    shuttingDown: false,
    appArmor: existsSync('/sys/kernel/security/apparmor/profiles')
      ? { enabled: true, reason: '' }
      : { enabled: false, reason: 'AppArmor is not enabled on the host' },
    allowedUnsafeSysctls: config.allowedUnsafeSysctls,
    // Only a runtime that announces the feature may be asked for it; none does before that is looked at.
    supplementalGroupsPolicySupported: false,
    featureGates: (name) => featureGates.all[name] ?? false,
  };
}
