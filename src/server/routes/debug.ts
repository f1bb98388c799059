import { json, text, type Handler } from '../route.ts';

/** The pages of the flight recorder, which bounds their size. */
export interface DebugPages {
  /** What was decided about a pod; undefined when nothing is on record. */
  pod(uid: string): object | undefined;
  /** What was decided about the node, the calls that leave the agent, and the pods that there are pages of. */
  node(): object;
}

const unknownPod =
  'no decision about a pod with this uid is on record: it was never on this node, or it is gone for too long. ' +
  '/debug/node lists the pods that are.\n';

/** `/debug/pods/{uid}`: why a pod is as it is. */
export function debugPodHandler({ pod }: Pick<DebugPages, 'pod'>): Handler {
  return async ({ params }) => {
    const page = pod(params['uid'] ?? '');
    return page === undefined ? text(404, unknownPod) : json(page);
  };
}

/** `/debug/node`: what the agent decided about the node, and what it waits for. */
export function debugNodeHandler({ node }: Pick<DebugPages, 'node'>): Handler {
  return async () => json(node());
}
