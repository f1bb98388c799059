import type { CSINode, Node } from '../../gen/kubernetes/types.ts';

/** Names the kinds of volumes that this node handles through drivers, so that the control plane does too. */
export const migratedPluginsAnnotation = 'storage.alpha.kubernetes.io/migrated-plugins';

const migratedPlugins: readonly string[] = [
  'kubernetes.io/aws-ebs',
  'kubernetes.io/azure-disk',
  'kubernetes.io/azure-file',
  'kubernetes.io/cinder',
  'kubernetes.io/gce-pd',
  'kubernetes.io/portworx-volume',
  'kubernetes.io/vsphere-volume',
];

/** The record of a node's storage drivers before there are any. It goes with its node. */
export function newCsiNode({ metadata }: Pick<Node, 'metadata'>): CSINode {
  const { name = '', uid = '' } = metadata ?? {};
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    metadata: {
      name,
      annotations: { [migratedPluginsAnnotation]: migratedPlugins.join(',') },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }],
    },
    spec: { drivers: [] },
  };
}

/** The record with what this agent says of itself; undefined when it says so already. */
export function reconciledCsiNode(existing: CSINode): CSINode | undefined {
  const { metadata } = existing;
  const before = metadata?.annotations?.[migratedPluginsAnnotation] ?? '';
  const named = new Set(before.split(','));
  if (named.size === migratedPlugins.length && migratedPlugins.every((plugin) => named.has(plugin))) return undefined;
  const annotations = { ...metadata?.annotations, [migratedPluginsAnnotation]: migratedPlugins.join(',') };
  return { ...existing, metadata: { ...metadata, annotations }, spec: { drivers: existing.spec.drivers ?? [] } };
}
