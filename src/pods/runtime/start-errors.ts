import type { PodUid } from '../../base/ids.ts';

export interface StartError {
  readonly reason: string;
  readonly message: string;
}

/** Why containers could not be started last time: what their waiting state says. Owned by the runtime actors. */
export class StartErrors {
  readonly #errors = new Map<PodUid, Map<string, StartError>>();

  set(uid: PodUid, container: string, error: StartError): void {
    const ofPod = this.#errors.get(uid) ?? new Map<string, StartError>();
    ofPod.set(container, error);
    this.#errors.set(uid, ofPod);
  }

  clear(uid: PodUid, container: string): void {
    this.#errors.get(uid)?.delete(container);
  }

  forget(uid: PodUid): void {
    this.#errors.delete(uid);
  }

  of(uid: PodUid): ReadonlyMap<string, StartError> {
    return this.#errors.get(uid) ?? new Map();
  }
}
