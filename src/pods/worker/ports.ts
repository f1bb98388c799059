import type { DesiredPod } from '../../model/desired-pod.ts';
import type { SyncOutcome, Termination } from '../../model/sync-outcome.ts';
import type { PodTarget } from './state.ts';

/**
 * The four operations on a pod. Each is retried until it succeeds, may be cancelled at any await through its signal, and
 * must be idempotent, because a try may leave things half done.
 */
export interface PodSyncer {
  /** Brings the pod towards its spec. */
  syncPod(pod: DesiredPod, signal: AbortSignal): Promise<SyncOutcome>;
  /** Stops all containers of a pod that a source named. */
  syncTerminatingPod(pod: DesiredPod, how: Termination, signal: AbortSignal): Promise<void>;
  /** Stops all containers of a pod that only the runtime knows. */
  syncTerminatingRuntimePod(target: OrphanTarget, graceSeconds: number, signal: AbortSignal): Promise<void>;
  /** Releases the volumes, cgroups and probe state of a stopped pod. */
  syncTerminatedPod(target: PodTarget, signal: AbortSignal): Promise<void>;
}

type OrphanTarget = Extract<PodTarget, { kind: 'orphan' }>;
