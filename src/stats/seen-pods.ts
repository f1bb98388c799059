import type { PodUid } from '../base/ids.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import type { ObservedPod } from '../model/observed-pod.ts';
import type { SeenPod, StatsPods } from './ports.ts';

/** The pods of this node, from the rooms that know them. */
export interface PodsOnNode {
  /** Every pod of which the runtime has anything, as last seen. */
  seen(): readonly ObservedPod[];
  /** The pod as it is wanted here. */
  desired(uid: PodUid): DesiredPod | undefined;
  /** When the agent took it on, as its status says. */
  startTime(uid: PodUid): string | undefined;
}

/** The pods that are wanted here and of which the runtime has something; of others nothing is said. */
export class SeenPods implements StatsPods {
  readonly #pods: PodsOnNode;

  constructor(pods: PodsOnNode) {
    this.#pods = pods;
  }

  all(): readonly SeenPod[] {
    const all: SeenPod[] = [];
    for (const seen of this.#pods.seen()) {
      const pod = this.#pods.desired(seen.uid);
      if (pod !== undefined) all.push({ pod, startTime: this.#pods.startTime(seen.uid), seen });
    }
    return all;
  }
}
