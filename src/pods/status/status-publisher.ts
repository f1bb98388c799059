import type { Clock } from '../../base/clock.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { Histogram, Metrics } from '../../base/metrics.ts';
import type { PodStatus } from '../../gen/kubernetes/types.ts';
import { configAnnotations } from '../../model/annotations.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { podFields } from '../../model/pod-log.ts';
import { isTerminalPhase, podPhases } from '../../model/reasons.ts';
import type { StartError, ResizeRefusal } from '../../model/refusal.ts';
import type { StatusInput } from '../../model/sync-outcome.ts';
import { computeReportedErrors, type ReportedStartError } from './compute-reported-errors.ts';
import type { ProbeAnswers, StatusFeatures } from './generate-container-statuses.ts';
import { generatePodStatus } from './generate-status.ts';
import { mergeStatus, normalizeStatus, terminateStatus, wasInitialized } from './merge-status.ts';
import { startBuckets } from './pod-starts.ts';
import type { PodStatuses } from './pod-statuses.ts';

export interface StatusPublisherDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly statuses: PodStatuses;
  readonly probes: ProbeAnswers;
  readonly startErrors: (uid: PodUid) => ReadonlyMap<string, StartError>;
  /** Why a pod does not get the resources that its spec asks for by now. */
  readonly resizeRefusal: (uid: PodUid) => ResizeRefusal | undefined;
  readonly hostIps: () => readonly string[];
  /** What the runtime calls itself: the scheme of container ids. */
  readonly runtimeName: () => string;
  /** Whether mounts of the pod can be read-only with all below them. */
  readonly recursiveReadOnly: (pod: DesiredPod) => boolean;
  /** Fields of statuses by feature gate. */
  readonly features: StatusFeatures;
  readonly metrics: Metrics;
}

/** Generates a pod's status and keeps it. It returns the agent's own status; the kept one may not show its end yet. */
export class StatusPublisher {
  readonly #deps: StatusPublisherDeps;
  /** The start errors that statuses show, for pods that have any. */
  readonly #reported = new Map<PodUid, ReadonlyMap<string, ReportedStartError>>();
  /** Whether init containers had done their work before the pod was stopped, for pods that are. */
  readonly #initialized = new Map<PodUid, boolean>();
  readonly #starts: Histogram;

  constructor(deps: StatusPublisherDeps) {
    this.#deps = deps;
    this.#starts = deps.metrics.histogram({
      name: 'kubelet_pod_start_duration_seconds',
      help: 'Seconds from a pod being named to its running.',
      stability: 'ALPHA',
      buckets: startBuckets,
    });
  }

  publish(input: StatusInput): PodStatus {
    const { clock, log, statuses, probes, hostIps, runtimeName, recursiveReadOnly, features } = this.#deps;
    const { pod } = input;
    const known = statuses.get(pod.uid);
    // A terminal phase at the API server stands, also when the status kept here is older.
    const isOlder = isTerminalPhase(pod.status.phase) && !isTerminalPhase(known?.phase);
    const previous = isOlder ? undefined : known;
    if (input.terminal && !this.#initialized.has(pod.uid)) {
      this.#initialized.set(pod.uid, wasInitialized(previous ?? pod.status, pod.spec));
    }
    const generated = normalizeStatus(
      generatePodStatus({
        ...input,
        previous,
        startErrors: this.#reportStartErrors(input),
        resizeRefusal: this.#deps.resizeRefusal(pod.uid),
        probes,
        runtimeName: runtimeName(),
        features,
        recursiveReadOnly: recursiveReadOnly(pod),
        hostIps: hostIps(),
        nowMs: clock.now(),
      }),
    );
    const merged = mergeStatus(previous ?? pod.status, generated, {
      spec: pod.spec,
      couldHaveRunningContainers: !input.terminal,
      ownRestartRules: features.ownRestartRules,
    });
    if ('illegal' in merged) {
      log.warn('Status change refused', { ...podFields(pod), reason: merged.illegal });
      return generated;
    }
    const hasStarted = known?.phase === podPhases.pending && merged.status.phase === podPhases.running;
    if (hasStarted) this.#measureStart(pod);
    statuses.set(pod.uid, merged.status);
    return generated;
  }

  #measureStart(pod: DesiredPod): void {
    const seen = Date.parse(pod.metadata.annotations?.[configAnnotations.seen] ?? '');
    if (!Number.isNaN(seen)) this.#starts.observe(Math.max(0, this.#deps.clock.now() - seen) / 1_000);
  }

  /** Whether a start error is known by now that a later status has to show. */
  statusPending(uid: PodUid): boolean {
    return [...(this.#reported.get(uid)?.values() ?? [])].some(({ pendingSince }) => pendingSince !== undefined);
  }

  /** The start errors that the status shows now. */
  #reportStartErrors({ pod, observed }: StatusInput): ReadonlyMap<string, StartError> {
    const { clock, startErrors } = this.#deps;
    const before = this.#reported.get(pod.uid) ?? new Map<string, ReportedStartError>();
    const [errors, nowMs] = [startErrors(pod.uid), clock.monotonic()];
    const after = computeReportedErrors({ before, errors, observed: observed.containers, nowMs });
    if (after.size === 0) this.#reported.delete(pod.uid);
    else this.#reported.set(pod.uid, after);
    return new Map([...after].flatMap(([name, { reported }]) => (reported === undefined ? [] : [[name, reported]])));
  }

  /** The last status: nothing of the pod is left, so containers that show no end yet get one. */
  finish(pod: DesiredPod): void {
    const { statuses } = this.#deps;
    this.#reported.delete(pod.uid);
    const initialized = this.#initialized.get(pod.uid);
    this.#initialized.delete(pod.uid);
    const status = statuses.get(pod.uid);
    if (status !== undefined) statuses.set(pod.uid, terminateStatus(status, pod.spec, initialized));
  }

  forget(uid: PodUid): void {
    this.#reported.delete(uid);
    this.#initialized.delete(uid);
  }

  size(): number {
    return this.#reported.size + this.#initialized.size;
  }
}
