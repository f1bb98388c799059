import type { PodFullName, PodUid } from '../../base/ids.ts';

/**
 * Static pods of one full name run one after another: a changed manifest is a new pod under the old name, and both at
 * once would collide in ports and files. The first that comes runs first.
 */
export class StaticPodQueue {
  readonly #queues = new Map<PodFullName, PodUid[]>();

  /** Appends a pod; returns whether it may run now. */
  add(name: PodFullName, uid: PodUid): boolean {
    const queue = this.#queues.get(name) ?? [];
    if (!queue.includes(uid)) queue.push(uid);
    this.#queues.set(name, queue);
    return queue[0] === uid;
  }

  /** Whether a pod of that name runs or waits. */
  isTaken(name: PodFullName): boolean {
    return this.#queues.has(name);
  }

  /** Removes a pod; returns the pod that may run now, if that changed. */
  remove(name: PodFullName, uid: PodUid): PodUid | undefined {
    const queue = this.#queues.get(name);
    if (queue === undefined) return undefined;
    const wasFirst = queue[0] === uid;
    const rest = queue.filter((other) => other !== uid);
    if (rest.length === 0) this.#queues.delete(name);
    else this.#queues.set(name, rest);
    return wasFirst ? rest[0] : undefined;
  }
}
