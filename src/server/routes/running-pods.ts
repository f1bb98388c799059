import type { Pod } from '../../gen/kubernetes/types.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';
import type { Handler } from '../route.ts';
import { podListAnswer } from './pods.ts';

interface RunningPods {
  /** Every pod of which the runtime has anything, wanted or not, as it was last seen. */
  observed(): readonly ObservedPod[];
}

/** `/runningpods`: what runs, as the runtime reports it: names and images, nothing of specs. */
export function runningPodsHandler(deps: RunningPods): Handler {
  return async () => podListAnswer(deps.observed().flatMap((pod) => toRunningPod(pod) ?? []));
}

/** Nothing for a pod that has neither a sandbox that is ready nor a container that runs. */
function toRunningPod({ uid, name, namespace, sandboxes, containers }: ObservedPod): Pod | undefined {
  const running = containers.filter(({ state }) => state === 'running');
  if (running.length === 0 && !sandboxes.some(({ state }) => state === 'ready')) return undefined;
  return {
    metadata: { name, namespace, uid },
    spec: { containers: running.map((container) => ({ name: container.name, image: container.image, resources: {} })) },
    status: {},
  };
}
