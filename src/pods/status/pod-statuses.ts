import { isDeepStrictEqual } from 'node:util';
import type { PodUid } from '../../base/ids.ts';
import type { PodStatus } from '../../gen/kubernetes/types.ts';

interface VersionedStatus {
  readonly status: PodStatus;
  /** Grows with every change of the pod's status and never goes back. */
  readonly version: number;
}

/** The status of each pod as the agent sees it; the only writer of that fact. */
export class PodStatuses {
  readonly #statuses = new Map<PodUid, VersionedStatus>();
  /** Those of an earlier life of the agent that this one has not spoken about yet. */
  readonly #restored = new Set<PodUid>();
  readonly #onChange: (uid: PodUid, status: PodStatus) => void;
  readonly #onForget: (uid: PodUid) => void;

  constructor(
    onChange: (uid: PodUid, status: PodStatus) => void = () => {},
    onForget: (uid: PodUid) => void = () => {},
  ) {
    this.#onChange = onChange;
    this.#onForget = onForget;
  }

  get(uid: PodUid): PodStatus | undefined {
    return this.#statuses.get(uid)?.status;
  }

  versionOf(uid: PodUid): number {
    return this.#statuses.get(uid)?.version ?? 0;
  }

  /** Keeps a status; answers whether it says anything new. */
  set(uid: PodUid, status: PodStatus): boolean {
    const known = this.#statuses.get(uid);
    if (known !== undefined && isDeepStrictEqual(known.status, status)) return false;
    this.#restored.delete(uid);
    this.#statuses.set(uid, { status, version: (known?.version ?? 0) + 1 });
    this.#onChange(uid, status);
    return true;
  }

  /** What an earlier life of the agent kept. Only for pods that nothing is known of yet, and no news to anybody. */
  restore(statuses: Iterable<readonly [PodUid, PodStatus]>): void {
    for (const [uid, status] of statuses) {
      if (this.#statuses.has(uid)) continue;
      this.#statuses.set(uid, { status, version: 1 });
      this.#restored.add(uid);
    }
  }

  /** Somebody who may know better, for another agent was here in between, speaks about the pod. */
  dropRestored(uid: PodUid): void {
    if (this.#restored.delete(uid)) this.#statuses.delete(uid);
  }

  all(): ReadonlyMap<PodUid, PodStatus> {
    return new Map([...this.#statuses].map(([uid, { status }]) => [uid, status]));
  }

  forget(uid: PodUid): void {
    this.#restored.delete(uid);
    if (this.#statuses.delete(uid)) this.#onForget(uid);
  }

  size(): number {
    return this.#statuses.size;
  }
}
