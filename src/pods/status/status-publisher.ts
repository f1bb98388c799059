import type { Clock } from '../../base/clock.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { PodStatus } from '../../gen/kubernetes/types.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';
import { isTerminalPhase } from '../../model/reasons.ts';
import type { ProbeAnswers, StartError } from './generate-container-statuses.ts';
import { generatePodStatus, type DecidedEnd } from './generate-status.ts';
import { mergeStatus, normalizeStatus, terminateStatus } from './merge-status.ts';
import type { PodStatuses } from './pod-statuses.ts';

export interface StatusPublisherDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly statuses: PodStatuses;
  readonly probes: ProbeAnswers;
  readonly startErrors: (uid: PodUid) => ReadonlyMap<string, StartError>;
  readonly hostIps: () => readonly string[];
  /** What the runtime calls itself: the scheme of container ids. */
  readonly runtimeName: () => string;
}

export interface PublishInput {
  readonly pod: DesiredPod;
  readonly observed: ObservedPod;
  readonly needsSandbox: boolean;
  readonly terminal: boolean;
  readonly decided?: DecidedEnd;
}

/** Works out a pod's status and keeps it. The status it answers is the agent's own; what is kept may hold its end back. */
export class StatusPublisher {
  readonly #deps: StatusPublisherDeps;

  constructor(deps: StatusPublisherDeps) {
    this.#deps = deps;
  }

  publish(input: PublishInput): PodStatus {
    const { clock, log, statuses, probes, startErrors, hostIps, runtimeName } = this.#deps;
    const { pod } = input;
    const known = statuses.get(pod.uid);
    // An end that the API server knows of stands, also when what is remembered here is older.
    const isOlder = isTerminalPhase(pod.status.phase) && !isTerminalPhase(known?.phase);
    const previous = isOlder ? undefined : known;
    const generated = normalizeStatus(
      generatePodStatus({
        ...input,
        previous,
        startErrors: startErrors(pod.uid),
        probes,
        runtimeName: runtimeName(),
        hostIps: hostIps(),
        nowMs: clock.now(),
      }),
    );
    const merged = mergeStatus(previous ?? pod.status, generated, {
      spec: pod.spec,
      couldHaveRunningContainers: !input.terminal,
    });
    if ('illegal' in merged) {
      log.warn('Status change refused', { pod: { namespace: pod.namespace, name: pod.name }, why: merged.illegal });
      return generated;
    }
    statuses.set(pod.uid, merged.status);
    return generated;
  }

  /** The last word: nothing of the pod is left, so whatever had no end yet gets one. */
  finish(pod: DesiredPod): void {
    const { statuses } = this.#deps;
    const status = statuses.get(pod.uid);
    if (status !== undefined) statuses.set(pod.uid, terminateStatus(status, pod.spec));
  }
}
