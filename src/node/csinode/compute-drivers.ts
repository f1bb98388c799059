import { ownValue } from '../../base/own-value.ts';
import type { CSINode, CSINodeDriver, Node } from '../../gen/kubernetes/types.ts';
import type { StorageDriver } from '../../model/storage-driver.ts';

/** By name; undefined: the driver was removed. Other entries are of other writers, or of an earlier life. */
type WantedDrivers = ReadonlyMap<string, StorageDriver | undefined>;

/** Driver → its own name of the node, as JSON. */
export const nodeIdsAnnotation = 'csi.volume.kubernetes.io/nodeid';

/**
 * The next record on the way to the wanted one; undefined when it is reached. Most API servers do not let an entry
 * change: a wrong one is removed first, and the next record adds it again.
 */
export function nextCsiNode(existing: CSINode, wanted: WantedDrivers): CSINode | undefined {
  const present = existing.spec.drivers ?? [];
  const right = present.filter((entry) => {
    if (!wanted.has(entry.name)) return true;
    const driver = wanted.get(entry.name);
    return driver !== undefined && isSameEntry(entry, entryOf(entry.name, driver));
  });
  if (right.length < present.length) return { ...existing, spec: { ...existing.spec, drivers: right } };
  const known = new Set(present.map(({ name }) => name));
  const missing = [...wanted].flatMap(([name, driver]) =>
    driver === undefined || known.has(name) ? [] : [entryOf(name, driver)],
  );
  if (missing.length === 0) return undefined;
  return { ...existing, spec: { ...existing.spec, drivers: [...present, ...missing] } };
}

function entryOf(name: string, { nodeId, topology, maxVolumes }: StorageDriver): CSINodeDriver {
  const topologyKeys = Object.keys(topology).toSorted();
  return {
    name,
    nodeID: nodeId,
    topologyKeys,
    ...(maxVolumes !== undefined && { allocatable: { count: maxVolumes } }),
  };
}

function isSameEntry(one: CSINodeDriver, other: CSINodeDriver): boolean {
  return (
    one.nodeID === other.nodeID &&
    one.allocatable?.count === other.allocatable?.count &&
    [...(one.topologyKeys ?? [])].toSorted().join() === (other.topologyKeys ?? []).join()
  );
}

/** How a driver's topology contradicts the labels of the node. */
export function topologyCollision(node: Node, driver: StorageDriver | undefined): string | undefined {
  const labels = node.metadata?.labels ?? {};
  for (const [key, value] of Object.entries(driver?.topology ?? {})) {
    const present = ownValue(labels, key);
    if (present !== undefined && present !== value) {
      return `reports ${key}=${value}, and the node is labelled ${key}=${present}`;
    }
  }
  return undefined;
}

/**
 * The patch that adds a driver's values to the node; undefined when it has them. Labels of removed drivers stay:
 * volumes and schedulers may still use them.
 */
export function nodeDriverPatch(node: Node, name: string, driver: StorageDriver | undefined): unknown {
  const { annotations = {}, labels: known = {} } = node.metadata ?? {};
  const before = annotations[nodeIdsAnnotation];
  const after = nodeIds(before, name, driver?.nodeId);
  const labels = Object.entries(driver?.topology ?? {}).filter(([key, value]) => ownValue(known, key) !== value);
  if (after === before && labels.length === 0) return undefined;
  return {
    metadata: {
      // In a patch, null removes a key.
      ...(after !== before && { annotations: { [nodeIdsAnnotation]: after ?? null } }),
      ...(labels.length > 0 && { labels: Object.fromEntries(labels) }),
    },
  };
}

/** The annotation with one driver's id set, or removed. Without a change it stays byte for byte. */
function nodeIds(before: string | undefined, name: string, nodeId: string | undefined): string | undefined {
  const ids = new Map(Object.entries(parsed(before)));
  if (ids.get(name) === nodeId) return before;
  if (nodeId === undefined) ids.delete(name);
  else ids.set(name, nodeId);
  const names = [...ids.keys()].toSorted();
  return names.length === 0 ? undefined : JSON.stringify(Object.fromEntries(names.map((key) => [key, ids.get(key)])));
}

/** Only agents write the annotation; an invalid one is replaced. */
function parsed(text: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}
