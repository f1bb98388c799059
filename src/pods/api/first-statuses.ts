import type { PodUid } from '../../base/ids.ts';
import type { Pod, PodStatus } from '../../gen/kubernetes/types.ts';
import type { DesiredPod, PodSource } from '../../model/desired-pod.ts';
import { endedByShutdown } from '../../model/reasons.ts';
import { computeFirstStatus } from './compute-first-status.ts';

interface FirstStatusesDeps {
  readonly desired: { has(uid: PodUid): boolean };
  readonly statuses: {
    get(uid: PodUid): PodStatus | undefined;
    dropRestored(uid: PodUid): void;
    restore(statuses: Iterable<readonly [PodUid, PodStatus]>): void;
  };
  readonly mirrors: { of(pod: DesiredPod): Pod | undefined };
  /** The runtime has been listed, and has nothing of the pod. */
  readonly isAbsent: (uid: PodUid) => boolean;
  /** A container of the pod runs, as far as known. */
  readonly runs: (uid: PodUid) => boolean;
}

/** Chooses the status that pods begin with, right before a source's set is passed on. */
export class FirstStatuses {
  readonly #deps: FirstStatusesDeps;
  /** The sources of static pods that have named a set. */
  readonly #heard = new Set<PodSource>();

  constructor(deps: FirstStatusesDeps) {
    this.#deps = deps;
  }

  /**
   * A static pod brings no status: its mirror pod shows the last one. One that a source names only later begins anew; a
   * mirror pod that is still there shows a life that has ended, and so does a checkpoint if the runtime has nothing of it.
   */
  applyToStaticPods(source: PodSource, pods: readonly DesiredPod[]): void {
    const { desired, statuses, mirrors, isAbsent } = this.#deps;
    if (this.#heard.has(source)) {
      for (const { uid } of pods) if (!desired.has(uid) && isAbsent(uid)) statuses.dropRestored(uid);
      return;
    }
    this.#heard.add(source);
    for (const pod of pods) {
      const { uid } = pod;
      const first = computeFirstStatus({
        isDesired: desired.has(uid),
        reported: mirrors.of(pod)?.status,
        checkpoint: statuses.get(uid),
      });
      if (first.use !== 'reported') continue;
      statuses.dropRestored(uid);
      statuses.restore([[uid, first.status]]);
    }
  }

  /** A pod of the API server brings its status along. */
  applyToApiPods(pods: readonly DesiredPod[]): void {
    const { desired, statuses, runs } = this.#deps;
    for (const { uid, status } of pods) {
      const known = statuses.get(uid);
      const shutdownEnd = known !== undefined && endedByShutdown(known) && !runs(uid) ? known : undefined;
      const { use } = computeFirstStatus({ isDesired: desired.has(uid), reported: status, shutdownEnd });
      if (use === 'reported') statuses.dropRestored(uid);
    }
  }
}
