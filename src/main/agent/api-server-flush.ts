import type { Node } from '../../gen/kubernetes/types.ts';
import type { NamespacedName } from '../../model/pod-reference.ts';
import type { ApiServerFlush } from '../../shutdown/ports.ts';
import type { AgentApi } from './agent-api.ts';

/** What the API server has of this node, for a shutdown that waits until it has all. */
export function apiServerFlush(
  { mirrors, recorder }: AgentApi,
  nodeName: string,
  unwritten: () => readonly NamespacedName[],
): ApiServerFlush {
  return {
    unwritten,
    nodeNotReady: () => !isReady(mirrors.node.get({ name: nodeName })),
    events: (signal) => recorder.flushed(signal),
  };
}

/** A node that is not there counts as not ready. */
function isReady(node: Node | undefined): boolean {
  return node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}
