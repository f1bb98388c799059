import { isDeepStrictEqual } from 'node:util';
import { cutText, maxMessageBytes } from '../../base/cut-text.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Container } from '../../gen/kubernetes/types.ts';
import type { StartError } from '../../model/refusal.ts';

/** A start that failed is not tried again before a monotonic time, unless the container's definition changes. */
interface RetryDelay {
  readonly until: number;
  readonly definition: Container;
}

/** The message of a failed hook contains twice what its command printed. */
const maxWaitingBytes = 4 * maxMessageBytes;

/** Why containers could not be started last time, as their waiting state shows it. Written by `startContainer` alone. */
export class StartErrors {
  readonly #errors = new Map<PodUid, Map<string, StartError>>();
  readonly #retryDelays = new Map<PodUid, Map<string, RetryDelay>>();

  set(uid: PodUid, container: string, error: StartError, delay?: RetryDelay): void {
    const ofPod = this.#errors.get(uid) ?? new Map<string, StartError>();
    // The message is part of the pod's status, of which every watcher gets a copy at each change.
    ofPod.set(container, { ...error, message: cutText(error.message, maxWaitingBytes) });
    this.#errors.set(uid, ofPod);
    const delays = this.#retryDelays.get(uid) ?? new Map<string, RetryDelay>();
    if (delay === undefined) delays.delete(container);
    else delays.set(container, delay);
    this.#retryDelays.set(uid, delays);
  }

  /** Until when this definition of a container is not tried again, in monotonic time; the past when it may be. */
  retryDelayedUntil(uid: PodUid, definition: Container): number {
    const delay = this.#retryDelays.get(uid)?.get(definition.name);
    return delay !== undefined && isDeepStrictEqual(delay.definition, definition)
      ? delay.until
      : Number.NEGATIVE_INFINITY;
  }

  clear(uid: PodUid, container: string): void {
    this.#errors.get(uid)?.delete(container);
    this.#retryDelays.get(uid)?.delete(container);
  }

  size(): number {
    return this.#errors.size + this.#retryDelays.size;
  }

  forget(uid: PodUid): void {
    this.#errors.delete(uid);
    this.#retryDelays.delete(uid);
  }

  of(uid: PodUid): ReadonlyMap<string, StartError> {
    return this.#errors.get(uid) ?? new Map();
  }
}
