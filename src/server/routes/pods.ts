import type { Pod } from '../../gen/kubernetes/types.ts';
import { isMirrorPod } from '../../model/annotations.ts';
import type { Handler, RouteResponse } from '../route.ts';
import { listAnswer } from './list-answer.ts';

export interface PodsDeps {
  /** Every pod the sources name, with the status the agent sees. */
  pods(): readonly Pod[];
}

/** `/pods`: static pods are shown as themselves, so their mirrors are left out. */
export function podsHandler(deps: PodsDeps): Handler {
  return async () => podListAnswer(deps.pods().filter(({ metadata }) => !isMirrorPod(metadata ?? {})));
}

/** A PodList; the list names the kind of its items once. */
export function podListAnswer(pods: readonly Pod[]): RouteResponse {
  return listAnswer({
    before: '{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[',
    items: pods.map(({ metadata, spec, status }) => ({ metadata, spec, status })),
    after: ']}',
  });
}
