import type { Node } from '../../gen/kubernetes/types.ts';
import type { LeaseNode } from './compute-lease.ts';

/** Whose lease it is; undefined as long as the API server has not said it. */
export function leaseNode(node: Node | undefined): LeaseNode | undefined {
  const { name, uid } = node?.metadata ?? {};
  return name === undefined || uid === undefined ? undefined : { name, uid };
}
