import type { CSINode, Node } from '../../gen/kubernetes/types.ts';

/** Names the in-tree volume types that this node handles through drivers, for the control plane. */
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

/** The CSINode of a node before it has any drivers. It is owned by its node. */
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

/** The record with the agent's own annotation; undefined when it has it already. */
export function reconciledCsiNode(existing: CSINode): CSINode | undefined {
  const { metadata } = existing;
  const before = metadata?.annotations?.[migratedPluginsAnnotation] ?? '';
  const named = new Set(before.split(','));
  if (named.size === migratedPlugins.length && migratedPlugins.every((plugin) => named.has(plugin))) return undefined;
  const annotations = { ...metadata?.annotations, [migratedPluginsAnnotation]: migratedPlugins.join(',') };
  return { ...existing, metadata: { ...metadata, annotations }, spec: { drivers: existing.spec.drivers ?? [] } };
}
