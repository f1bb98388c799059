import type { Node } from '../../gen/kubernetes/types.ts';
import type { LeaseNode } from './compute-lease.ts';

/** The owner of the lease; undefined until the API server has reported the node. */
export function leaseNode(node: Node | undefined): LeaseNode | undefined {
  const { name, uid } = node?.metadata ?? {};
  return name === undefined || uid === undefined ? undefined : { name, uid };
}
