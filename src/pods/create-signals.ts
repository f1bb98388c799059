import { Broadcaster } from '../base/broadcaster.ts';
import { Due } from '../base/due.ts';
import type { PodUid } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { PodRemoval } from '../model/pod-removal.ts';
import { SyncLoopInbox } from './sync-loop/index.ts';

/** The signals by which components wake each other. All of them exist before the first component does. */
export interface PodSignals {
  /** Messages that make the sync loop reconcile pods. */
  readonly inbox: SyncLoopInbox;
  /** Ends what is remembered of a pod, everywhere. */
  readonly podRemoval: PodRemoval;
  /** Something may be left over: marked by components that see a pod end, taken by housekeeping. */
  readonly cleanupDue: Due;
  readonly statusChanged: Broadcaster<PodUid>;
  /** A status was dropped with its pod. */
  readonly statusForgotten: Broadcaster<PodUid>;
  /** The lifecycle state of a pod changed. */
  readonly lifecycleChanged: Broadcaster<PodUid>;
}

export function createPodSignals(log: Log): PodSignals {
  return {
    inbox: new SyncLoopInbox(),
    podRemoval: new PodRemoval(log),
    cleanupDue: new Due(),
    statusChanged: new Broadcaster(),
    statusForgotten: new Broadcaster(),
    lifecycleChanged: new Broadcaster(),
  };
}
