import type { PodFullName, PodUid } from '../../base/ids.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { PodUpdate } from '../../model/pod-update.ts';

/** The pods that the config sources name for this node. */
export class DesiredPods {
  readonly #pods = new Map<PodUid, DesiredPod>();

  /** Applies one update of the merged sources. */
  apply(update: PodUpdate): void {
    for (const pod of update.pods) {
      if (update.op === 'remove') this.#pods.delete(pod.uid);
      else this.#pods.set(pod.uid, pod);
    }
  }

  get(uid: PodUid): DesiredPod | undefined {
    return this.#pods.get(uid);
  }

  has(uid: PodUid): boolean {
    return this.#pods.has(uid);
  }

  /** The pods under a full name; two while a changed static pod waits for its predecessor to end. */
  named(fullName: PodFullName): readonly DesiredPod[] {
    return this.all().filter((pod) => pod.fullName === fullName);
  }

  all(): readonly DesiredPod[] {
    return [...this.#pods.values()];
  }

  size(): number {
    return this.#pods.size;
  }
}
