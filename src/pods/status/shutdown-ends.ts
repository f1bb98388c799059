import type { PodUid } from '../../base/ids.ts';
import type { PodStatus } from '../../gen/kubernetes/types.ts';
import { isStatic, type DesiredPod } from '../../model/desired-pod.ts';
import { endedByShutdown } from '../../model/reasons.ts';

interface ShutdownEndsDeps {
  readonly statuses: {
    get(uid: PodUid): PodStatus | undefined;
    dropRestored(uid: PodUid): void;
  };
  readonly shuttingDown: () => boolean;
}

/**
 * Static pods that a shutdown ended begin anew with the next run of the agent, unless that shutdown is still under way: no
 * controller would replace them. Pods of the API server have failed for good.
 */
export class ShutdownEnds {
  readonly #deps: ShutdownEndsDeps;

  constructor(deps: ShutdownEndsDeps) {
    this.#deps = deps;
  }

  /** To be called before a source's pods are passed on. */
  forget(pods: readonly DesiredPod[]): void {
    const { statuses, shuttingDown } = this.#deps;
    if (shuttingDown()) return;
    for (const pod of pods) {
      const status = statuses.get(pod.uid);
      if (isStatic(pod) && status !== undefined && endedByShutdown(status)) statuses.dropRestored(pod.uid);
    }
  }
}
