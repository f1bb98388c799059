import type { DesiredPod } from '../../model/desired-pod.ts';
import type { SyncOutcome, Termination } from '../../model/sync-outcome.ts';
import type { PodTarget } from './state.ts';

/**
 * The four operations on a pod. Each is retried until it succeeds, may be given up at any await through its signal, and
 * must be able to begin anew from whatever the last try left behind.
 */
export interface PodSyncer {
  /** Brings the pod towards its spec. */
  syncPod(pod: DesiredPod, signal: AbortSignal): Promise<SyncOutcome>;
  /** Stops everything of a pod that somebody wanted. */
  syncTerminatingPod(pod: DesiredPod, how: Termination, signal: AbortSignal): Promise<void>;
  /** Stops everything of a pod that only the runtime knows. */
  syncTerminatingRuntimePod(target: OrphanTarget, graceSeconds: number, signal: AbortSignal): Promise<void>;
  /** Releases what a stopped pod held: volumes, cgroups, probe state. */
  syncTerminatedPod(target: PodTarget, signal: AbortSignal): Promise<void>;
}

type OrphanTarget = Extract<PodTarget, { kind: 'orphan' }>;
