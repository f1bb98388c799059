import type { Node } from '../../gen/kubernetes/types.ts';
import type { Mirror } from '../../model/api-client.ts';
import type { NodeAttachments } from './ports.ts';

/** Volumes in this node's object, as the API server has it; none before it was read. */
export function nodeAttachments(nodes: Pick<Mirror<Node>, 'get'>, nodeName: string): NodeAttachments {
  const status = (): Node['status'] => nodes.get({ name: nodeName })?.status;
  return {
    isReportedInUse: (name) => status()?.volumesInUse?.includes(name) === true,
    isAttached: (name) => status()?.volumesAttached?.some((attached) => attached.name === name) === true,
  };
}
