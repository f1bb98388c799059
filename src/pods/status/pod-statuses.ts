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
  /** Pods whose status is one of the agent's last run: this run has not generated one yet. */
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

  /** Keeps a status; returns whether it differs from the one before. */
  set(uid: PodUid, status: PodStatus): boolean {
    const known = this.#statuses.get(uid);
    if (known !== undefined && isDeepStrictEqual(known.status, status)) return false;
    this.#restored.delete(uid);
    this.#statuses.set(uid, { status, version: (known?.version ?? 0) + 1 });
    this.#onChange(uid, status);
    return true;
  }

  /** Takes the statuses of the agent's last run, for pods without one. They are no change, so no listener is called. */
  restore(statuses: Iterable<readonly [PodUid, PodStatus]>): void {
    for (const [uid, status] of statuses) {
      if (this.#statuses.has(uid)) continue;
      this.#statuses.set(uid, { status, version: 1 });
      this.#restored.add(uid);
    }
  }

  /** The API server has a status of the pod. It counts instead of the restored one: another agent may have run in between. */
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
