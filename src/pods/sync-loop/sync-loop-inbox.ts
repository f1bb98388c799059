import type { PodUid } from '../../base/ids.ts';
import type { PodUpdate } from '../../model/pod-update.ts';

/** Everything that can make the sync loop reconcile a pod. */
export type SyncLoopMessage =
  | { readonly type: 'configChanged'; readonly update: PodUpdate }
  | { readonly type: 'observedChanged'; readonly uid: PodUid }
  | { readonly type: 'probeChanged'; readonly uid: PodUid }
  | { readonly type: 'resourcesChanged'; readonly uids: readonly PodUid[] };

/**
 * Takes messages of all components for the sync loop. It exists before all of them. Messages that come before
 * `setHandler` wait in order; afterwards each is handled at once.
 *
 *   waiting ──setHandler──> handled at once
 */
export class SyncLoopInbox {
  #waiting: SyncLoopMessage[] = [];
  #handler: ((message: SyncLoopMessage) => void) | undefined;

  put(message: SyncLoopMessage): void {
    if (this.#handler === undefined) this.#waiting.push(message);
    else this.#handler(message);
  }

  /** A source changed its pods. */
  configChanged(update: PodUpdate): void {
    this.put({ type: 'configChanged', update });
  }

  /** The pleg saw another state of the pod. */
  observedChanged(uid: PodUid): void {
    this.put({ type: 'observedChanged', uid });
  }

  probeChanged(uid: PodUid): void {
    this.put({ type: 'probeChanged', uid });
  }

  /** Something that these pods use has changed. */
  resourcesChanged(uids: readonly PodUid[]): void {
    this.put({ type: 'resourcesChanged', uids });
  }

  /** Handles the messages that wait, in order, and all later ones. */
  setHandler(handler: (message: SyncLoopMessage) => void): void {
    if (this.#handler !== undefined) throw new Error('the inbox has a handler already');
    this.#handler = handler;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const message of waiting) handler(message);
  }
}
