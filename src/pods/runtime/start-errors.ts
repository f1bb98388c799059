import { isDeepStrictEqual } from 'node:util';
import { cutText, maxMessageBytes } from '../../base/cut-text.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Container } from '../../gen/kubernetes/types.ts';

interface StartError {
  readonly reason: string;
  readonly message: string;
  /** It follows upon a kill of our own: the end of the container is no news. */
  readonly atOnce?: true;
}

/** What failed is not tried again before a monotonic time, unless its definition changes. */
interface StartHold {
  readonly until: number;
  readonly definition: Container;
}

/** What a hook's command printed stands there twice. */
const maxWaitingBytes = 4 * maxMessageBytes;

/** Why containers could not be started last time: what their waiting state says. Owned by the runtime actors. */
export class StartErrors {
  readonly #errors = new Map<PodUid, Map<string, StartError>>();
  readonly #holds = new Map<PodUid, Map<string, StartHold>>();

  set(uid: PodUid, container: string, error: StartError, hold?: StartHold): void {
    const ofPod = this.#errors.get(uid) ?? new Map<string, StartError>();
    // It stands in the pod's status, of which every watcher gets a copy at each change.
    ofPod.set(container, { ...error, message: cutText(error.message, maxWaitingBytes) });
    this.#errors.set(uid, ofPod);
    const holds = this.#holds.get(uid) ?? new Map<string, StartHold>();
    if (hold === undefined) holds.delete(container);
    else holds.set(container, hold);
    this.#holds.set(uid, holds);
  }

  /** Until when this definition of a container is not tried again, in monotonic time; the past when it may be. */
  heldUntil(uid: PodUid, definition: Container): number {
    const hold = this.#holds.get(uid)?.get(definition.name);
    return hold !== undefined && isDeepStrictEqual(hold.definition, definition) ? hold.until : Number.NEGATIVE_INFINITY;
  }

  clear(uid: PodUid, container: string): void {
    this.#errors.get(uid)?.delete(container);
    this.#holds.get(uid)?.delete(container);
  }

  size(): number {
    return this.#errors.size + this.#holds.size;
  }

  forget(uid: PodUid): void {
    this.#errors.delete(uid);
    this.#holds.delete(uid);
  }

  of(uid: PodUid): ReadonlyMap<string, StartError> {
    return this.#errors.get(uid) ?? new Map();
  }
}
