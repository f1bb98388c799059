import type { PodUid } from '../../base/ids.ts';
import type { PodStatus } from '../../gen/kubernetes/types.ts';
import { isTerminalPhase } from '../../model/reasons.ts';

interface ReportedLivesDeps {
  readonly statuses: { get(uid: PodUid): PodStatus | undefined };
  readonly lifecycles: { isNamedAgain(uid: PodUid): boolean };
}

/**
 * Which life of a pod the API server is to show. The end of a life is not shown when the pod is named again: after a restart
 * the agent would take it for the end of the pod.
 */
export class ReportedLives {
  readonly #deps: ReportedLivesDeps;

  constructor(deps: ReportedLivesDeps) {
    this.#deps = deps;
  }

  /** The status to report; none between the end of a life and the first status of the next. */
  statusOf(uid: PodUid): PodStatus | undefined {
    return this.isBetweenLives(uid) ? undefined : this.#deps.statuses.get(uid);
  }

  /** A life of the pod has ended, and another is to begin. */
  isBetweenLives(uid: PodUid): boolean {
    const { statuses, lifecycles } = this.#deps;
    return lifecycles.isNamedAgain(uid) && isTerminalPhase(statuses.get(uid)?.phase);
  }

  /** The agent knows that the pod has not ended, or that it runs again. */
  hasNotEnded(uid: PodUid): boolean {
    const phase = this.#deps.statuses.get(uid)?.phase;
    return (phase !== undefined && !isTerminalPhase(phase)) || this.isBetweenLives(uid);
  }
}
