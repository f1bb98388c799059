import type { PodUid } from '../../base/ids.ts';
import type { PodReference } from '../../model/pod-reference.ts';

interface LeftoversInput {
  /** Every source has been read: before that, a pod that no source names may still be named. */
  readonly sourcesReady: boolean;
  readonly isDesired: (uid: PodUid) => boolean;
  /** Pods that have a worker, and whether they are finished and removed from their source. */
  readonly workers: readonly { readonly uid: PodUid; readonly canBeRemoved: boolean }[];
  /** Pods the runtime has something of. */
  readonly inRuntime: readonly PodReference[];
  /** Pods that have files here. */
  readonly onDisk: readonly PodUid[];
  /** Pods that some component remembers. */
  readonly remembered?: readonly PodUid[];
}

interface Leftovers {
  /** In the runtime, without a source and without a worker: to be stopped. */
  readonly orphans: readonly PodReference[];
  /**
   * Stopped and removed from their source: what is left of them in the runtime and on disk is removed, then their per-pod
   * state. Also of those that are named again: their new life waits until nothing is left of the old one.
   */
  readonly remains: readonly PodUid[];
  /** Directories of pods that are unknown otherwise. */
  readonly orphanedDirectories: readonly PodUid[];
  /** Pods that are only remembered. */
  readonly onlyRemembered: readonly PodUid[];
}

/** What is left of removed pods. */
export function computeLeftovers(input: LeftoversInput): Leftovers {
  if (!input.sourcesReady) return { orphans: [], remains: [], orphanedDirectories: [], onlyRemembered: [] };
  const withWorker = new Set(input.workers.map(({ uid }) => uid));
  const running = new Set(input.inRuntime.map(({ uid }) => uid));
  const isNowhere = (uid: PodUid): boolean => !withWorker.has(uid) && !running.has(uid) && !input.isDesired(uid);
  return {
    orphans: input.inRuntime.filter(({ uid }) => !withWorker.has(uid) && !input.isDesired(uid)),
    remains: input.workers.filter(({ canBeRemoved }) => canBeRemoved).map(({ uid }) => uid),
    orphanedDirectories: input.onDisk.filter(isNowhere),
    onlyRemembered: (input.remembered ?? []).filter((uid) => isNowhere(uid) && !input.onDisk.includes(uid)),
  };
}
