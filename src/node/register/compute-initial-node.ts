import type { Node, Taint } from '../../gen/kubernetes/types.ts';
import type { NodeSettings } from '../settings.ts';

/** Marks that the control plane attaches this node's volumes. */
export const controllerAttachAnnotation = 'volumes.kubernetes.io/controller-managed-attach-detach';

const uninitializedTaint: Taint = {
  key: 'node.cloudprovider.kubernetes.io/uninitialized',
  value: 'true',
  effect: 'NoSchedule',
};

/** The node as it is registered, without its status. */
export function computeInitialNode(settings: NodeSettings): Node {
  const { nodeName, operatingSystem, architecture, providerId } = settings;
  const taints: readonly Taint[] = [
    ...settings.taints.map(plainTaint),
    ...(settings.externalCloudProvider ? [uninitializedTaint] : []),
  ];
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: nodeName,
      labels: {
        'beta.kubernetes.io/arch': architecture,
        'beta.kubernetes.io/os': operatingSystem,
        'kubernetes.io/arch': architecture,
        'kubernetes.io/hostname': nodeName,
        'kubernetes.io/os': operatingSystem,
        ...settings.labels,
      },
      ...(settings.controllerAttachDetach && { annotations: { [controllerAttachAnnotation]: 'true' } }),
    },
    spec: {
      ...(providerId !== '' && { providerID: providerId }),
      ...(taints.length > 0 && { taints }),
    },
  };
}

function plainTaint({ key, value, effect }: Taint): Taint {
  return { key, ...(value !== undefined && value !== '' && { value }), effect };
}
