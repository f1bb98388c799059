import type { PodUid } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import { podListFields } from '../model/pod-log.ts';
import type { PodUpdate } from '../model/pod-update.ts';

/** Everything that can make the agent look at a pod again. */
export type DispatchMessage =
  | { readonly type: 'configChanged'; readonly update: PodUpdate }
  | { readonly type: 'observedChanged'; readonly uid: PodUid }
  | { readonly type: 'probeChanged'; readonly uid: PodUid }
  | { readonly type: 'resourcesChanged'; readonly uids: readonly PodUid[] }
  | { readonly type: 'tick' };

export interface DispatchDeps {
  readonly log: Log;
  readonly desired: { apply(update: PodUpdate): void };
  /** Lets a pod in, or has it fail with a reason. */
  readonly gate: { pass(pod: DesiredPod): boolean };
  readonly workers: {
    configure(pod: DesiredPod): void;
    remove(uid: PodUid): void;
    wake(uid: PodUid): void;
    knows(uid: PodUid): boolean;
    isLeaving(uid: PodUid): boolean;
  };
  /** A pod that never had a worker is gone. */
  readonly onGone: (uid: PodUid) => void;
  readonly housekeeping: { wake(): void };
}

/** The single inbox. It decides which pod should look again, and does no work itself. */
export class Dispatch {
  readonly #deps: DispatchDeps;

  constructor(deps: DispatchDeps) {
    this.#deps = deps;
  }

  handle(message: DispatchMessage): void {
    const { workers, housekeeping } = this.#deps;
    switch (message.type) {
      case 'configChanged':
        return this.#configChanged(message.update);
      case 'observedChanged':
        workers.wake(message.uid);
        // It may be a pod that nobody wants.
        return housekeeping.wake();
      case 'probeChanged':
        return workers.wake(message.uid);
      case 'resourcesChanged':
        for (const uid of message.uids) workers.wake(uid);
        return;
      case 'tick':
        return housekeeping.wake();
      default:
        return message satisfies never;
    }
  }

  #configChanged(update: PodUpdate): void {
    const { log, desired, gate, workers, housekeeping, onGone } = this.#deps;
    if (update.pods.length > 0) {
      log.info(`SyncLoop ${update.op.toUpperCase()}`, { source: update.source, ...podListFields(update.pods) });
    }
    desired.apply(update);
    for (const pod of update.pods) {
      switch (update.op) {
        case 'add':
        case 'update':
        case 'delete':
          // One that comes back while its old life is ending is let in, or not, when that is over.
          if (workers.isLeaving(pod.uid) || gate.pass(pod)) workers.configure(pod);
          break;
        case 'remove':
          if (workers.knows(pod.uid)) workers.remove(pod.uid);
          else onGone(pod.uid);
          break;
        case 'reconcile':
          // Most of a status is our own word coming back. Only readiness gates wait for what others write into it.
          if ((pod.spec.readinessGates ?? []).length > 0 && workers.knows(pod.uid)) workers.configure(pod);
          break;
        case 'set':
          break;
        default:
          update.op satisfies never;
      }
    }
    // A source that speaks for the first time may settle what is nobody's.
    housekeeping.wake();
  }
}
