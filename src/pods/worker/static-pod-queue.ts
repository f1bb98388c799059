import type { PodFullName, PodUid } from '../../base/ids.ts';

/**
 * Static pods of one full name run one after another: a changed manifest is a new pod under the old name, and both at
 * once would fight over ports and files. First come, first served.
 */
export class StaticPodQueue {
  readonly #queues = new Map<PodFullName, PodUid[]>();

  /** Takes a place in the line; true when it is this pod's turn already. */
  add(name: PodFullName, uid: PodUid): boolean {
    const queue = this.#queues.get(name) ?? [];
    if (!queue.includes(uid)) queue.push(uid);
    this.#queues.set(name, queue);
    return queue[0] === uid;
  }

  /** Whether a pod of that name is here or waits to be. */
  isTaken(name: PodFullName): boolean {
    return this.#queues.has(name);
  }

  /** Leaves the line; answers whose turn it is now, if that changed. */
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
