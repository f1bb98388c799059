import type { PodUid } from '../../base/ids.ts';
import type { PodReference } from '../../model/pod-reference.ts';

interface LeftoversInput {
  /** Every source has spoken: only then does "nobody wants it" mean anything. */
  readonly sourcesReady: boolean;
  readonly isDesired: (uid: PodUid) => boolean;
  /** Pods that have a worker, and whether it is finished and dropped by its source. */
  readonly workers: readonly { readonly uid: PodUid; readonly canBeRemoved: boolean }[];
  /** Pods the runtime has something of. */
  readonly inRuntime: readonly PodReference[];
  /** Pods that have files here. */
  readonly onDisk: readonly PodUid[];
  /** Pods that somebody here remembers something of. */
  readonly remembered?: readonly PodUid[];
}

interface Leftovers {
  /** In the runtime, wanted by nobody, cared for by nobody: to be stopped. */
  readonly orphans: readonly PodReference[];
  /**
   * Stopped and dropped: what is left of them in the runtime and on disk goes, then their memory. Also of those that are
   * wanted again: their new life waits until nothing is left of the old one.
   */
  readonly remains: readonly PodUid[];
  /** Files of pods that nothing else knows of. */
  readonly orphanedDirectories: readonly PodUid[];
  /** Memories of pods that are nowhere else. */
  readonly onlyRemembered: readonly PodUid[];
}

/** What is left over from pods that are no more. */
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
