import { inspectPod } from '../pods/pleg/inspect-pod.ts';
import type { ObservableRuntime } from '../pods/pleg/index.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import type { ObservedPod } from '../model/observed-pod.ts';

/** What a runtime has of a pod, as the agent sees it. */
export function observe(runtime: ObservableRuntime, pod: Pick<DesiredPod, 'uid'>): Promise<ObservedPod> {
  return inspectPod(runtime, pod.uid, 1);
}
