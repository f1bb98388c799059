import type { PodUid } from '../base/ids.ts';
import type { PodStatus } from '../gen/kubernetes/types.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import { isTerminalPhase } from '../model/reasons.ts';

interface ActivePodsDeps {
  readonly desired: { all(): readonly DesiredPod[] };
  readonly lifecycles: { isTerminated(uid: PodUid): boolean; isTerminating(uid: PodUid): boolean };
  readonly statuses: { get(uid: PodUid): PodStatus | undefined };
}

/** Whether a pod takes resources of the node, and why. */
interface PodActivity {
  readonly isActive: boolean;
  readonly reason: 'terminated' | 'terminating' | 'terminal phase' | 'named by a source';
}

/** A pod whose containers are being stopped still takes resources, whatever phase is published. */
export function computePodActivity(pod: {
  readonly isTerminated: boolean;
  readonly isTerminating: boolean;
  readonly hasTerminalPhase: boolean;
}): PodActivity {
  if (pod.isTerminated) return { isActive: false, reason: 'terminated' };
  if (pod.isTerminating) return { isActive: true, reason: 'terminating' };
  if (pod.hasTerminalPhase) return { isActive: false, reason: 'terminal phase' };
  return { isActive: true, reason: 'named by a source' };
}

/** The pods that take resources of this node, for admission, cgroups, eviction, pod resources and metrics. */
export class ActivePods {
  readonly #deps: ActivePodsDeps;

  constructor(deps: ActivePodsDeps) {
    this.#deps = deps;
  }

  activePods(): readonly DesiredPod[] {
    return this.#deps.desired.all().filter((pod) => this.#activity(pod).isActive);
  }

  #activity({ uid, status }: DesiredPod): PodActivity {
    const { lifecycles, statuses } = this.#deps;
    return computePodActivity({
      isTerminated: lifecycles.isTerminated(uid),
      isTerminating: lifecycles.isTerminating(uid),
      hasTerminalPhase: isTerminalPhase(status.phase) || isTerminalPhase(statuses.get(uid)?.phase),
    });
  }
}
