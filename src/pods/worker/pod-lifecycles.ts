import type { PodUid } from '../../base/ids.ts';
import { continuesFormerLife, type WorkerState } from './state.ts';

/** Where each pod is in its life on this node. `PodWorkers` is the only writer. */
export class PodLifecycles {
  readonly #states = new Map<PodUid, WorkerState>();

  stateOf(uid: PodUid): WorkerState | undefined {
    return this.#states.get(uid);
  }

  uids(): readonly PodUid[] {
    return [...this.#states.keys()];
  }

  /** The pod has a worker, in whatever state. */
  knows(uid: PodUid): boolean {
    return this.#states.has(uid);
  }

  /** A static pod that may not begin before an older one of its full name has ended. */
  isWaiting(uid: PodUid): boolean {
    return this.#states.get(uid)?.phase === 'waiting';
  }

  /** Its containers have been stopped; nothing of it runs, or will. */
  isTerminated(uid: PodUid): boolean {
    const phase = this.#states.get(uid)?.phase;
    return phase === 'terminated' || phase === 'finished';
  }

  /** Its containers are being stopped. */
  isTerminating(uid: PodUid): boolean {
    return this.#states.get(uid)?.phase === 'terminating';
  }

  /** Its end is complete: nothing runs, and it holds no volumes and no cgroup. */
  isFinished(uid: PodUid): boolean {
    return this.#states.get(uid)?.phase === 'finished';
  }

  /** Its source removed it and it is not finished: an update that comes now is for its next life. */
  isRemovedFromSource(uid: PodUid): boolean {
    const state = this.#states.get(uid);
    return state !== undefined && 'removedFromSource' in state && state.removedFromSource;
  }

  /** Its source removed it and names it again: its new life begins when the former one is finished and forgotten. */
  isNamedAgain(uid: PodUid): boolean {
    const state = this.#states.get(uid);
    return state !== undefined && 'next' in state && state.next !== undefined;
  }

  /** Finished and not named by its source: housekeeping may remove what the runtime and the disk have of it. */
  canBeRemoved(uid: PodUid): boolean {
    return this.isFinished(uid) && this.isRemovedFromSource(uid);
  }

  /** Named again after its removal, and its containers start again as the next attempts of what the runtime has of them. */
  continuesFormerLife(uid: PodUid): boolean {
    return continuesFormerLife(this.#states.get(uid));
  }

  set(uid: PodUid, state: WorkerState): void {
    this.#states.set(uid, state);
  }

  forget(uid: PodUid): void {
    this.#states.delete(uid);
  }

  size(): number {
    return this.#states.size;
  }
}
