import type { PodUid } from '../base/ids.ts';

/** Teardowns of pods' volumes under way: one at a time for each pod, in the order of the calls. */
export class PodTeardowns {
  /** The end of the last of each pod. They never reject. */
  readonly #ends = new Map<PodUid, Promise<void>>();

  get size(): number {
    return this.#ends.size;
  }

  /** Resolves when no teardown of the pod is under way. */
  async ended(uid: PodUid): Promise<void> {
    await this.#ends.get(uid);
  }

  async run(uid: PodUid, work: () => Promise<void>): Promise<void> {
    // Recorded before anything is awaited, so that no mount begins in between.
    const done = (this.#ends.get(uid) ?? Promise.resolve()).then(work);
    const end = done.then(
      () => undefined,
      () => undefined,
    );
    this.#ends.set(uid, end);
    try {
      await done;
    } finally {
      if (this.#ends.get(uid) === end) this.#ends.delete(uid);
    }
  }
}
