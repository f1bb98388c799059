import type { Clock } from '../../base/clock.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Heartbeats, Round } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import { superviseLoop } from '../../base/loop.ts';
import { Mailbox } from '../../base/mailbox.ts';
import { jitter, type Random } from '../../base/random.ts';
import type { Decision, Decisions } from '../../model/decisions.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { podFields, type PodFields } from '../../model/pod-log.ts';
import type { PodReference, NamespacedName } from '../../model/pod-reference.ts';
import type { PodSyncer } from './ports.ts';
import type { Operation, WorkerMetrics } from './worker-metrics.ts';
import { reduceWorker, targetOf, type WorkerEvent, type WorkerState } from './state.ts';
import { retryDecision, workerDecision } from './worker-decision.ts';

interface PodWorkerDeps {
  readonly uid: PodUid;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly syncer: PodSyncer;
  readonly decisions: Decisions;
  readonly resyncMs: number;
  readonly requeueAfter: (ms: number) => void;
  readonly onChange: (state: WorkerState) => void;
  readonly metrics: WorkerMetrics;
}

/** After a failed operation the pod is synced again this much later, plus up to half. */
const retryMs = 10_000;
const jitterFraction = 0.5;
/** The reason of a refused start is reported as late as a sync after a failure may come: the end before it shows until then. */
const statusPendingMs = retryMs * (1 + jitterFraction);

/**
 * One pod's loop: a mailbox of capacity one wakes it, the state decides the operation, one operation runs at a time. The
 * state changes at once when an event arrives; an operation that the change made pointless is cancelled.
 */
export class PodWorker {
  readonly #deps: PodWorkerDeps;
  readonly #mailbox = new Mailbox<'reconcile'>((waiting) => waiting);
  readonly #closed = new AbortController();
  #state: WorkerState;
  /** The pod that was synced last, and when it was first named. */
  #synced: DesiredPod | undefined;
  readonly #createdAt: number;
  #running: { readonly state: WorkerState; readonly abort: AbortController } | undefined;
  done: Promise<void> = Promise.resolve();

  constructor(deps: PodWorkerDeps, event: WorkerEvent, state: WorkerState) {
    this.#deps = deps;
    this.#state = state;
    this.#record(workerDecision(undefined, event, state));
    this.#createdAt = deps.clock.monotonic();
  }

  /** The state after a first event; undefined when the event does not make a worker. */
  static initialState(event: WorkerEvent): WorkerState | undefined {
    return reduceWorker(undefined, event);
  }

  get state(): WorkerState {
    return this.#state;
  }

  start(): void {
    this.#deps.onChange(this.#state);
    this.wake();
    this.done = this.#supervise();
  }

  wake(): void {
    this.#mailbox.put('reconcile');
  }

  /** Ends the loop and cancels the running operation; the pod itself is left as it is. */
  close(): void {
    this.#closed.abort();
    this.#running?.abort.abort();
  }

  apply(event: WorkerEvent): void {
    const before = this.#state;
    const after = reduceWorker(before, event);
    if (after === undefined || after === before) return;
    this.#state = after;
    this.#record(workerDecision(before, event, after));
    if (this.#running !== undefined && isPointless(this.#running.state, after)) this.#running.abort.abort();
    if (before.phase !== after.phase) {
      this.#deps.log.debug(2, 'Pod lifecycle moved on', {
        ...podFieldsOf(after),
        from: before.phase,
        to: after.phase,
      });
    }
    this.wake();
    this.#deps.onChange(after);
  }

  /** A failure outside of the operations makes the loop back off; the worker goes on. */
  #supervise(): Promise<void> {
    const { uid, clock, random, log, heartbeats } = this.#deps;
    const pod = this.#pod();
    return superviseLoop({
      name: `pod-worker ${pod.namespace}/${pod.name}`,
      heartbeats,
      // An operation takes as long as an image or a grace period does.
      maxStepMs: Number.POSITIVE_INFINITY,
      clock,
      random,
      log: log.with(podFields({ ...pod, uid })),
      signal: this.#closed.signal,
      body: (signal, round) => this.#round(signal, round),
    }).done;
  }

  async #round(signal: AbortSignal, round: Round): Promise<void> {
    await round.waitFor(this.#mailbox.take(signal));
    try {
      await this.#syncOnce();
    } catch (error) {
      this.#deps.metrics.failed();
      // The message has been taken, but its work was not done.
      this.wake();
      throw error;
    }
  }

  #pod(): NamespacedName {
    const target = targetOf(this.#state);
    return target.kind === 'desired' ? target.pod : target;
  }

  async #syncOnce(): Promise<void> {
    const state = this.#state;
    const abort = new AbortController();
    this.#running = { state, abort };
    const began = this.#deps.clock.monotonic();
    const operation = this.#operationOf(state, began);
    try {
      await this.#operate(state, abort.signal);
    } catch (error) {
      // Cancelled on purpose: the state has changed, and the change has put a message into the mailbox.
      if (abort.signal.aborted) return;
      this.#deps.log.error(error, 'Error syncing pod, skipping', podFieldsOf(state));
      const nextTryInMs = jitter(this.#deps.random, retryMs, jitterFraction);
      this.#record(retryDecision(state.phase, error, nextTryInMs));
      this.#deps.requeueAfter(nextTryInMs);
    } finally {
      this.#running = undefined;
      const seconds = (this.#deps.clock.monotonic() - began) / 1_000;
      if (operation !== undefined) this.#deps.metrics.operated(operation, seconds);
    }
  }

  #record(decision: Decision | undefined): void {
    if (decision !== undefined) this.#deps.decisions.pod(this.#subject(), decision);
  }

  #subject(): PodReference {
    const target = targetOf(this.#state);
    const { namespace, name } = target.kind === 'desired' ? target.pod : target;
    return { uid: this.#deps.uid, namespace, name };
  }

  /** The operation of a state, as metrics name it. */
  #operationOf(state: WorkerState, now: number): Operation | undefined {
    if (state.phase === 'terminating') return 'kill';
    if (state.phase === 'terminated') return 'terminated';
    if (state.phase !== 'syncing') return undefined;
    const before = this.#synced;
    this.#synced = state.pod;
    if (before === undefined) this.#deps.metrics.started((now - this.#createdAt) / 1_000);
    return before === undefined ? 'create' : before === state.pod ? 'sync' : 'update';
  }

  async #operate(state: WorkerState, signal: AbortSignal): Promise<void> {
    const { syncer, random, resyncMs } = this.#deps;
    switch (state.phase) {
      case 'waiting':
      case 'finished':
        return;
      case 'syncing': {
        const outcome = await syncer.syncPod(state.pod, signal);
        if (outcome.kind === 'ended') {
          return this.apply(outcome.decided ? { type: 'killed', decided: outcome.decided } : { type: 'ended' });
        }
        const resync = jitter(random, resyncMs, jitterFraction);
        const toReport = outcome.statusPending === true ? statusPendingMs : resync;
        return this.#deps.requeueAfter(Math.min(resync, toReport, outcome.requeueAfterMs ?? resync));
      }
      case 'terminating': {
        const { target, graceSeconds, decided } = state;
        if (target.kind === 'orphan') await syncer.syncTerminatingRuntimePod(target, graceSeconds, signal);
        else await syncer.syncTerminatingPod(target.pod, { graceSeconds, ...(decided && { decided }) }, signal);
        // A shorter grace period that came after the stop must not cause a second one.
        return this.apply({ type: 'stopped' });
      }
      case 'terminated':
        await syncer.syncTerminatedPod(state.target, signal);
        return this.apply({ type: 'cleaned' });
      default:
        return state satisfies never;
    }
  }
}

/** The operation that began in `then` is pointless in `now`: the pod has to end, or to end sooner. */
function isPointless(then: WorkerState, now: WorkerState): boolean {
  if (then.phase === 'syncing') return now.phase !== 'syncing';
  if (then.phase === 'terminating') return now.phase === 'terminating' && now.graceSeconds < then.graceSeconds;
  return false;
}

function podFieldsOf(state: WorkerState): PodFields {
  const target = targetOf(state);
  return podFields(target.kind === 'desired' ? target.pod : target);
}
