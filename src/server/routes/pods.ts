import type { Pod, PodCondition, PodStatus } from '../../gen/kubernetes/types.ts';
import { isMirrorPod } from '../../model/annotations.ts';
import type { Handler, RouteResponse } from '../route.ts';
import { hidesValues } from './hides-values.ts';
import { listAnswer } from './list-answer.ts';
import { withoutValues } from './without-values.ts';

interface PodsDeps {
  /** Every pod the sources name, with the status the agent sees. */
  pods(): readonly Pod[];
  /** There is no API server. */
  readonly isStandalone: boolean;
}

/** `/pods`: static pods are shown as themselves, so their mirrors are left out. */
export function podsHandler(deps: PodsDeps): Handler {
  return async ({ listener }) => {
    const pods = deps.pods().filter(({ metadata }) => !isMirrorPod(metadata ?? {}));
    return podListAnswer(hidesValues(listener, deps.isStandalone) ? pods.map(withoutValues) : pods);
  };
}

/** A PodList; the list names the kind of its items once. */
export function podListAnswer(pods: readonly Pod[]): RouteResponse {
  return listAnswer({
    before: '{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[',
    items: pods.map(({ metadata, spec, status }) => ({ metadata, spec, status: status && shownStatus(status) })),
    after: ']}',
  });
}

function shownStatus(status: PodStatus): object {
  const { conditions } = status;
  return conditions === undefined ? status : { ...status, conditions: conditions.map(shownCondition) };
}

/** The time of the last probe is written even where there was none: the API has it so. */
function shownCondition({ type, observedGeneration, status, lastProbeTime, ...rest }: PodCondition): object {
  return { type, observedGeneration, status, lastProbeTime: lastProbeTime ?? null, ...rest };
}
