import { linkedSignal } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { PodUid } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { Wakeup } from '../base/wakeup.ts';
import type { Decisions } from '../model/decisions.ts';
import { podFields, podListFields } from '../model/pod-log.ts';
import { conditionReasons, podMessages, podReasons } from '../model/reasons.ts';
import type { ShutdownGroup } from './compute-groups.ts';
import { computePlan, type PlannedGroup, type PlannedPod } from './plan.ts';
import type { ShutdownPods } from './ports.ts';

interface PodEndingDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly decisions: Decisions;
  readonly pods: Omit<ShutdownPods, 'complete'>;
}

/** How one group ended. */
export interface EndedGroup {
  readonly priority: number;
  readonly tookMs: number;
  /** Pods that were not through when the time of the group was over. */
  readonly late: readonly PlannedPod[];
}

/** What a pod that is ended by a shutdown says of it. */
const decided = {
  reason: podReasons.terminated,
  message: podMessages.nodeShutdown,
  keepsSucceeded: true,
  disruption: { reason: conditionReasons.terminationByKubelet, message: podMessages.nodeShutdown },
} as const;

/** Ends pods group by group: all of a group at once, then waits for them, at most for the time of the group. */
export class PodEnding {
  readonly #deps: PodEndingDeps;
  readonly #changed = new Wakeup();

  constructor(deps: PodEndingDeps) {
    this.#deps = deps;
  }

  /** The life of a pod has gone on. */
  lifecycleChanged(): void {
    this.#changed.wake();
  }

  /**
   * Who is in a group is seen when it begins: it has the pods of groups before it, too, that were not known by then.
   * Rejects with the signal's reason when it aborts: groups that have not begun keep their pods.
   */
  async run(
    groups: readonly ShutdownGroup[],
    onEnded: (group: EndedGroup) => void,
    signal: AbortSignal,
  ): Promise<readonly PlannedPod[]> {
    const asked = new Map<PodUid, PlannedPod>();
    for (const index of groups.keys()) {
      const left = this.#deps.pods.activePods().filter(({ uid }) => !asked.has(uid));
      const [group] = computePlan(groups.slice(index), left);
      if (group === undefined || group.pods.length === 0) continue;
      for (const pod of group.pods) asked.set(pod.uid, pod);
      onEnded(await this.#end(group, signal));
    }
    return [...asked.values()];
  }

  async #end({ priority, seconds, pods }: PlannedGroup, signal: AbortSignal): Promise<EndedGroup> {
    const { clock, log, decisions, pods: all } = this.#deps;
    signal.throwIfAborted();
    const beganAt = clock.monotonic();
    for (const pod of pods) {
      const { uid, graceSeconds } = pod;
      log.info('Shutdown manager killing pod with gracePeriod', { ...podFields(pod), graceSeconds, priority });
      const { reason, message } = decided;
      const inputs = { groupPriority: priority, groupSeconds: seconds, graceSeconds };
      decisions.pod(pod, { kind: 'terminate', by: 'node-shutdown', reason, message, inputs });
      all.terminate(uid, { graceSeconds, decided });
    }
    await this.#wait(pods, seconds * 1_000, signal);
    const tookMs = clock.monotonic() - beganAt;
    const late = pods.filter(({ uid }) => !all.hasEnded(uid));
    if (late.length > 0) {
      log.warn('Shutdown manager pod killing time out', {
        gracePeriodSeconds: seconds,
        priority,
        ...podListFields(late),
      });
    }
    return { priority, tookMs, late };
  }

  async #wait(pods: readonly PlannedPod[], ms: number, signal: AbortSignal): Promise<void> {
    const { clock, pods: all } = this.#deps;
    const limit = linkedSignal(signal, { clock, ms });
    try {
      while (!pods.every(({ uid }) => all.hasEnded(uid))) await this.#changed.wait(limit.signal);
    } catch (error) {
      // Only the abort of the whole shutdown ends it; the time of this group is over otherwise.
      if (signal.aborted) throw error;
    } finally {
      limit.release();
    }
  }
}
