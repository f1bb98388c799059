import type { CancelTimer, Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { ContainerId, PodUid } from '../../base/ids.ts';
import type { Log, LogFields } from '../../base/log.ts';
import { containerFieldPath } from '../../model/containers.ts';
import type { Decisions } from '../../model/decisions.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { ObservedContainer } from '../../model/observed-pod.ts';
import { podFields } from '../../model/pod-log.ts';
import { eventOf, tryResult, resultDecision, withOwnLag } from './probe-outcome.ts';
import type { LoopLag } from './loop-lag.ts';
import type { Events, LastKnown, ProbeMetrics, ProbeOutcome, Prober } from './ports.ts';
import type { ProbeResults } from './probe-results.ts';
import type { ProbeAssignment } from './probe-settings.ts';
import {
  conclude,
  counts,
  nextStep,
  type ProbeState,
  type ProbeStep,
  type ProbeView,
  type Probing,
} from './probe-state.ts';

/** What all workers of an agent share. */
export interface WorkerDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly prober: Prober;
  readonly results: ProbeResults;
  readonly lag: LoopLag;
  readonly events: Events;
  readonly decisions: Decisions;
  readonly metrics: ProbeMetrics | undefined;
  readonly agentStart: ProbeView['agentStart'];
  readonly lastKnown: (uid: PodUid, containerName: string, id: ContainerId) => LastKnown | undefined;
}

/** What a worker needs of the pod it belongs to. */
export interface WorkerPod {
  readonly pod: DesiredPod;
  readonly ending: boolean;
  podIp(): string | undefined;
  newest(containerName: string): ObservedContainer | undefined;
  /** Takes in a newer observation of the pod. */
  catchUp(): void;
  /** The result of a probe changed, and others act upon it. */
  resultChanged(): void;
}

/** One probe of one container: reconciles, tries when it is due, and keeps the result up to date. One timer at most. */
export class ProbeWorker {
  readonly #deps: WorkerDeps;
  readonly #owner: WorkerPod;
  readonly #share: number;
  #assignment: ProbeAssignment;
  #state: ProbeState = { kind: 'unseen' };
  #cancelTimer: CancelTimer | undefined;
  /** When the timer should fire, on the monotonic clock. */
  #dueAt = 0;
  /** The try under way. */
  #attempt: AbortController | undefined;

  constructor(deps: WorkerDeps, owner: WorkerPod, assignment: ProbeAssignment, share: number) {
    this.#deps = deps;
    this.#owner = owner;
    this.#assignment = assignment;
    this.#share = share;
  }

  assign(assignment: ProbeAssignment): void {
    this.#assignment = assignment;
  }

  /** Something may have changed: reconcile now instead of when the timer fires. */
  reconcile(): void {
    const step = this.#nextStep();
    if (this.#attempt !== undefined) {
      // The try under way goes on: only time has passed.
      if (step.next.kind === 'try' && step.state === this.#state) return;
      this.#giveUp();
    }
    this.#enter(step.state);
    this.#arm(step.next);
  }

  /** Ends timer and try; the result stays. */
  halt(): void {
    this.#cancelTimer?.();
    this.#giveUp();
  }

  /** The pod was removed: the result is removed too. */
  remove(): void {
    this.halt();
    const { settings, container } = this.#assignment;
    this.#deps.metrics?.forget(settings.type, this.#owner.pod, container.name);
    if ('id' in this.#state) this.#deps.results.remove(this.#state.id, settings.type);
    this.#state = { kind: 'unseen' };
  }

  #nextStep(): ProbeStep {
    const { clock, results, agentStart, lastKnown } = this.#deps;
    const { settings, container, endsForGood } = this.#assignment;
    const seen = this.#owner.newest(container.name);
    const isNew = seen !== undefined && !('id' in this.#state && this.#state.id === seen.id);
    return nextStep(this.#state, settings, {
      monotonic: clock.monotonic(),
      wall: clock.now(),
      container: seen,
      started: seen !== undefined && results.hasStarted(seen.id),
      ending: this.#owner.ending,
      endsForGood,
      agentStart,
      lastKnown: isNew ? lastKnown(this.#owner.pod.uid, container.name, seen.id) : undefined,
      share: this.#share,
    });
  }

  #arm(next: ProbeStep['next']): void {
    this.#cancelTimer?.();
    if (next.kind === 'end') return;
    const { clock } = this.#deps;
    const ms = next.kind === 'wait' ? next.ms : 0;
    // A try that is overdue here was due before, so its lateness counts from then.
    this.#dueAt = this.#state.kind === 'probing' ? this.#state.nextAt : clock.monotonic() + ms;
    this.#cancelTimer = clock.after(ms, () => this.#tick());
  }

  #tick(): void {
    const lateMs = Math.max(0, this.#deps.clock.monotonic() - this.#dueAt);
    this.#owner.catchUp();
    const step = this.#nextStep();
    this.#enter(step.state);
    if (step.next.kind === 'try' && step.state.kind === 'probing') void this.#try(step.state, lateMs);
    else this.#arm(step.next);
  }

  /** Never rejects. */
  async #try(state: Probing, lateMs: number): Promise<void> {
    const { clock, lag } = this.#deps;
    this.#cancelTimer?.();
    const attempt = new AbortController();
    this.#attempt = attempt;
    const began = clock.monotonic();
    const watch = lag.watch();
    let outcome: ProbeOutcome;
    try {
      const probed = await this.#probe(state.id, attempt.signal);
      outcome = withOwnLag(probed, { lateMs, lagMs: watch.lagMs() }, this.#assignment.settings.timeoutMs);
    } catch (error) {
      outcome = { kind: 'error', state: 'unknown', error: messageOf(error) };
    } finally {
      watch.end();
    }
    // A container that has ended meanwhile explains any failure: catching up gives the try up then.
    this.#owner.catchUp();
    if (this.#attempt !== attempt) return;
    this.#attempt = undefined;
    this.#report(outcome, counts(state), clock.monotonic() - began);
    this.#applyResult(conclude(state, this.#assignment.settings, tryResult(outcome), clock.monotonic()), outcome);
  }

  #probe(containerId: ContainerId, signal: AbortSignal): Promise<ProbeOutcome> {
    const { container, probe, settings } = this.#assignment;
    const { pod } = this.#owner;
    const { timeoutMs } = settings;
    return this.#deps.prober({ pod, container, containerId, probe, podIp: this.#owner.podIp(), timeoutMs }, signal);
  }

  /** Enters the state after a try, and reports a result that changed. */
  #applyResult(state: ProbeState & { readonly id?: ContainerId }, outcome: ProbeOutcome): void {
    const { settings, container } = this.#assignment;
    const { type } = settings;
    const changed = 'result' in this.#state && 'result' in state && this.#state.result !== state.result;
    if (changed) this.#deps.decisions.pod(this.#owner.pod, resultDecision(settings, container.name, outcome));
    this.#enter(state);
    this.#owner.catchUp();
    this.reconcile();
    if (changed && (type !== 'Liveness' || state.result === 'failure')) this.#owner.resultChanged();
  }

  /** Keeps the results in step with the state. */
  #enter(state: ProbeState): void {
    const { results } = this.#deps;
    const { type } = this.#assignment.settings;
    const before = 'id' in this.#state ? this.#state : undefined;
    const after = 'id' in state && state.id !== undefined ? { id: state.id, result: state.result } : undefined;
    this.#state = state;
    if (before?.id !== undefined && before.id !== after?.id) results.remove(before.id, type);
    if (after !== undefined && (before?.id !== after.id || before.result !== after.result)) {
      results.set(after.id, type, after.result);
    }
  }

  /** Records the outcome in log, events and metrics. An extra try that did not succeed is not recorded. */
  #report(outcome: ProbeOutcome, counted: boolean, tookMs: number): void {
    const { log, events, metrics } = this.#deps;
    const { settings, container, kind } = this.#assignment;
    const { pod } = this.#owner;
    const { type } = settings;
    const result = tryResult(outcome);
    if (!counted && result !== 'success') return;
    if (outcome.kind !== 'success') {
      const fields = { probeType: type, ...podFields(pod), containerName: container.name };
      log.debug(1, 'Probe did not succeed', { ...fields, ...loggedOutcome(outcome) });
    }
    const event = eventOf(type, outcome, containerFieldPath(kind, container.name));
    if (event !== undefined) events.record(pod, event);
    if (result === 'success') metrics?.observe(type, 'successful', pod, container.name, tookMs / 1_000);
    if (result === 'failure') metrics?.observe(type, 'failed', pod, container.name, tookMs / 1_000);
  }

  #giveUp(): void {
    const attempt = this.#attempt;
    this.#attempt = undefined;
    attempt?.abort();
  }
}

/** An outcome as fields of a log line. */
function loggedOutcome(outcome: ProbeOutcome): LogFields {
  if (outcome.kind === 'error') return { kind: outcome.kind, state: outcome.state, err: outcome.error };
  if (outcome.kind === 'inconclusive') return { kind: outcome.kind, reason: outcome.reason };
  return { ...outcome };
}
