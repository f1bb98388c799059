import type { PodUid } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { podListFields } from '../../model/pod-log.ts';
import type { PodUpdate } from '../../model/pod-update.ts';
import type { SyncLoopMessage } from './sync-loop-inbox.ts';

interface SyncLoopDeps {
  readonly log: Log;
  readonly desired: { apply(update: PodUpdate): void };
  /** Admits a pod, or has it fail with a reason. */
  readonly gate: { admit(pod: DesiredPod): boolean };
  readonly lifecycles: { knows(uid: PodUid): boolean; isRemovedFromSource(uid: PodUid): boolean };
  readonly workers: {
    updatePod(pod: DesiredPod): void;
    remove(uid: PodUid): void;
    wake(uid: PodUid): void;
  };
  /** Drops what is remembered of a pod that never had a worker. */
  readonly podRemoval: { podRemoved(uid: PodUid): void };
  readonly cleanupDue: { mark(): void };
}

/** Takes every message about pods and decides which pod is to be reconciled; the workers do the work. */
export class SyncLoop {
  readonly #deps: SyncLoopDeps;

  constructor(deps: SyncLoopDeps) {
    this.#deps = deps;
  }

  handle(message: SyncLoopMessage): void {
    const { workers, cleanupDue } = this.#deps;
    switch (message.type) {
      case 'configChanged':
        return this.#configChanged(message.update);
      case 'observedChanged':
        workers.wake(message.uid);
        // The pod may be an orphan.
        return cleanupDue.mark();
      case 'probeChanged':
        return workers.wake(message.uid);
      case 'resourcesChanged':
        for (const uid of message.uids) workers.wake(uid);
        return;
      default:
        return message satisfies never;
    }
  }

  #configChanged(update: PodUpdate): void {
    const { log, desired, cleanupDue } = this.#deps;
    if (update.pods.length > 0) {
      log.info(`SyncLoop ${update.op.toUpperCase()}`, { source: update.source, ...podListFields(update.pods) });
    }
    desired.apply(update);
    for (const pod of update.pods) this.#podChanged(update.op, pod);
    // A source that is read for the first time may settle which pods are orphans.
    cleanupDue.mark();
  }

  #podChanged(op: PodUpdate['op'], pod: DesiredPod): void {
    const { gate, lifecycles, workers, podRemoval } = this.#deps;
    switch (op) {
      case 'add':
      case 'update':
      case 'delete':
        // A pod that comes back while its old life is ending goes through admission when that has ended.
        if (lifecycles.isRemovedFromSource(pod.uid) || gate.admit(pod)) workers.updatePod(pod);
        return;
      case 'remove':
        if (lifecycles.knows(pod.uid)) workers.remove(pod.uid);
        else podRemoval.podRemoved(pod.uid);
        return;
      case 'reconcile':
        // Most of a status is the agent's own report coming back. Only readiness gates wait for what others write into it.
        if ((pod.spec.readinessGates ?? []).length > 0 && lifecycles.knows(pod.uid)) workers.updatePod(pod);
        return;
      case 'set':
        return;
      default:
        op satisfies never;
    }
  }
}
