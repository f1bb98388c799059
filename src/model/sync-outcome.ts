import type { DesiredPod } from './desired-pod.ts';
import type { ObservedPod } from './observed-pod.ts';

/** Why a pod ends that its source still names: eviction, preemption, deadline, shutdown. In words for its status. */
export interface DecidedEnd {
  readonly reason: string;
  readonly message: string;
  /** Adds the condition by which controllers see that the pod did not fail on its own. */
  readonly disruption?: { readonly reason: string; readonly message: string };
}

/** How a pod is ended. */
export interface Termination {
  readonly graceSeconds: number;
  readonly decided?: DecidedEnd;
}

/** What one pass of the actors on sandboxes and containers did for a pod. */
export interface RuntimeOutcome {
  /** Something was changed in the runtime: what was observed before is out of date. */
  readonly acted: boolean;
  /** Dead instances that nobody needs were taken out; that alone is no news of the pod. */
  readonly pruned?: boolean;
  /** When the pod is to be synced again, where something is waited for. */
  readonly requeueAfterMs?: number;
  /** Nothing of the pod may run again, whatever its containers show: what was not started never will be. */
  readonly ended?: boolean;
}

/** What one sync of a pod came to. */
export type SyncOutcome =
  /**
   * Nothing more to do now; the worker syncs again after `requeueAfterMs` at the latest, where the pod waits for
   * something. `statusPending`: a start was refused, and the next sync reports why.
   */
  | { readonly kind: 'settled'; readonly requeueAfterMs?: number; readonly statusPending?: boolean }
  /** The pod is over: all containers ended and none may start again, or somebody decided so. */
  | { readonly kind: 'ended'; readonly decided?: DecidedEnd };

/** What a pod's status is worked out of. */
export interface StatusInput {
  readonly pod: DesiredPod;
  readonly observed: ObservedPod;
  readonly needsSandbox: boolean;
  /** The pod is over: containers that cannot be found count as ended. */
  readonly terminal: boolean;
  readonly decided?: DecidedEnd;
}
