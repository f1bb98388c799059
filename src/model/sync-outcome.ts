import type { DesiredPod } from './desired-pod.ts';
import type { ObservedPod } from './observed-pod.ts';

/** Why the agent ends a pod that its source still names, for its status: eviction, preemption, deadline, shutdown. */
export interface DecidedEnd {
  readonly reason: string;
  readonly message: string;
  /** A pod that has succeeded by itself when it is ended keeps that phase. */
  readonly keepsSucceeded?: boolean;
  /** Adds the condition by which controllers see that the pod did not fail on its own. */
  readonly disruption?: { readonly reason: string; readonly message: string };
}

/** How a pod is ended. */
export interface Termination {
  readonly graceSeconds: number;
  readonly decided?: DecidedEnd;
}

/** What one sync of a pod did in the runtime. */
export interface RuntimeOutcome {
  /** Something was changed in the runtime: what was observed before is out of date. */
  readonly acted: boolean;
  /** Superfluous dead instances were removed; that alone does not change the pod's status. */
  readonly pruned?: boolean;
  /** When the pod is to be synced again, where it waits for something. */
  readonly requeueAfterMs?: number;
  /** No container of the pod may run again, whatever their states: those that were not started never will be. */
  readonly ended?: boolean;
}

/** The outcome of one sync of a pod. */
export type SyncOutcome =
  /**
   * Nothing more to do now; the worker syncs again after `requeueAfterMs` at the latest, where the pod waits for
   * something. `statusPending`: a start was refused, and the next sync reports why.
   */
  | { readonly kind: 'settled'; readonly requeueAfterMs?: number; readonly statusPending?: boolean }
  /** The pod is to be terminated: all containers ended and none may start again, or the agent decided so. */
  | { readonly kind: 'ended'; readonly decided?: DecidedEnd };

/** What a pod's status is computed from. */
export interface StatusInput {
  readonly pod: DesiredPod;
  readonly observed: ObservedPod;
  readonly needsSandbox: boolean;
  /** The pod is over: containers that cannot be found count as ended. */
  readonly terminal: boolean;
  readonly decided?: DecidedEnd;
}
