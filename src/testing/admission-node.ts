import type { AdmissionNode } from '../model/admission-node.ts';

/** A node that takes anything reasonable, so that a test only says in what it differs. */
export function anAdmissionNode(more: Partial<AdmissionNode> = {}): AdmissionNode {
  return {
    name: 'node-1',
    labels: { 'kubernetes.io/hostname': 'node-1' },
    taints: [],
    allocatable: { cpu: '4', memory: '8Gi', 'ephemeral-storage': '100Gi', pods: '110' },
    os: 'linux',
    arch: 'amd64',
    kernelVersion: '6.1.0-18-amd64',
    pressure: [],
    shuttingDown: false,
    appArmor: { enabled: true, reason: '' },
    allowedUnsafeSysctls: [],
    supplementalGroupsPolicySupported: true,
    featureGates: () => true,
    ...more,
  };
}
