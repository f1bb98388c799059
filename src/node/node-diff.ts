import type { Node } from '../gen/kubernetes/types.ts';
import { createStrategicMergePatch } from '../model/strategic-merge-patch.ts';

/** The patch that turns one node into another; undefined when they are equal. Addresses are replaced as a whole. */
export function nodeDiff(from: Node, to: Node): unknown {
  const patch = createStrategicMergePatch(from, to, 'Node', { replaceLists: ['status.addresses'] });
  return Object.keys(patch).length === 0 ? undefined : patch;
}
