import type { Node } from '../../gen/kubernetes/types.ts';
import type { Mirror } from '../../model/api-client.ts';
import type { NodeAttachments } from './ports.ts';

/** What this node's object, as the API server has it, says of volumes; nothing while it is not known. */
export function nodeAttachments(nodes: Pick<Mirror<Node>, 'get'>, nodeName: string): NodeAttachments {
  const status = (): Node['status'] => nodes.get({ name: nodeName })?.status;
  return {
    isReportedInUse: (name) => status()?.volumesInUse?.includes(name) === true,
    isAttached: (name) => status()?.volumesAttached?.some((attached) => attached.name === name) === true,
  };
}
