import type { PodUid } from '../../src/base/ids.ts';
import type { PodStatus } from '../../src/gen/kubernetes/types.ts';
import { apiTime } from '../../src/model/api-time.ts';
import { desiredPod, type DesiredPod } from '../../src/model/desired-pod.ts';
import type { PodPlan } from './pod-plans.ts';

/**
 * What an API server remembers of pods: the status that reached it, and which pods shall go. A status may be lost on the
 * way, as happens when an agent dies before it has written it.
 */
export class ApiServer {
  readonly #statuses = new Map<PodUid, PodStatus>();
  readonly #deletions = new Map<
    PodUid,
    { readonly graceSeconds: number; readonly at: string; readonly since: number }
  >();
  readonly #loses: () => boolean;

  constructor(loses: () => boolean) {
    this.#loses = loses;
  }

  write(uid: PodUid, status: PodStatus): void {
    if (!this.#loses()) this.#statuses.set(uid, status);
  }

  statusOf(uid: PodUid): PodStatus | undefined {
    return this.#statuses.get(uid);
  }

  /** Asks for a deletion; asking again can only make it sooner. */
  delete(uid: PodUid, graceSeconds: number, now: { readonly wallMs: number; readonly monotonicMs: number }): void {
    const known = this.#deletions.get(uid);
    if (known !== undefined && known.graceSeconds <= graceSeconds) return;
    this.#deletions.set(uid, { graceSeconds, at: apiTime(now.wallMs), since: now.monotonicMs });
  }

  deletionOf(uid: PodUid): { readonly graceSeconds: number; readonly since: number } | undefined {
    return this.#deletions.get(uid);
  }

  /** The pod as an agent is told of it. */
  podOf({ uid, pod }: PodPlan): DesiredPod {
    const deletion = this.#deletions.get(uid);
    const metadata = {
      ...pod.metadata,
      ...(deletion && { deletionTimestamp: deletion.at, deletionGracePeriodSeconds: deletion.graceSeconds }),
    };
    return desiredPod('api', { metadata, spec: pod.spec, status: this.#statuses.get(uid) ?? {} });
  }
}
