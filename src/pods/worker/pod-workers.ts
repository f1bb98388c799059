import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { DelayQueue } from '../../base/delay-queue.ts';
import type { PodFullName, PodUid } from '../../base/ids.ts';
import type { Heartbeats } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import { superviseLoop } from '../../base/loop.ts';
import type { Random } from '../../base/random.ts';
import type { Decisions } from '../../model/decisions.ts';
import { isStatic, type DesiredPod } from '../../model/desired-pod.ts';
import type { PodReference } from '../../model/pod-reference.ts';
import type { Termination } from '../../model/sync-outcome.ts';
import type { PodLifecycles } from './pod-lifecycles.ts';
import { PodWorker } from './pod-worker.ts';
import type { PodSyncer } from './ports.ts';
import { StaticPodQueue } from './static-pod-queue.ts';
import { workerMetrics, type WorkerMetrics } from './worker-metrics.ts';
import { targetOf, type WorkerEvent, type WorkerState } from './state.ts';

interface PodWorkersDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly syncer: PodSyncer;
  /** Where every pod is in its life, for all to read. */
  readonly lifecycles: PodLifecycles;
  readonly decisions: Decisions;
  /** After this many milliseconds a pod is synced again without a cause. */
  readonly resyncMs: number;
  /** The lifecycle state of a pod changed. */
  readonly onChange: (uid: PodUid) => void;
  /** A pod that its source names again begins its new life: it goes through admission like a new pod. */
  readonly onPodRecreated: (pod: DesiredPod) => void;
  readonly metrics: Metrics;
}

/** All pod workers of the node, one per uid; the only writer of `PodLifecycles`. */
export class PodWorkers implements Component {
  readonly name = 'pod-workers';
  readonly #deps: PodWorkersDeps;
  readonly #workers = new Map<PodUid, PodWorker>();
  readonly #staticPods = new StaticPodQueue();
  readonly #delays: DelayQueue<PodUid>;
  readonly #stopped = new AbortController();
  readonly #metrics: WorkerMetrics;
  #timer: Promise<void> | undefined;

  constructor(deps: PodWorkersDeps) {
    this.#deps = deps;
    this.#delays = new DelayQueue<PodUid>(deps.clock);
    this.#metrics = workerMetrics(deps.metrics);
  }

  async start(): Promise<void> {
    const { clock, log, random, heartbeats } = this.#deps;
    this.#timer = superviseLoop({
      name: 'pod-resync',
      heartbeats,
      clock,
      log,
      random,
      signal: this.#stopped.signal,
      carriesPods: true,
      body: async (signal, round) => this.wake(await round.waitFor(this.#delays.take(signal))),
    }).done;
  }

  /** Cancels the running operations; pods are left as they are, and the next start of the agent takes them over. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    for (const worker of this.#workers.values()) worker.close();
    await Promise.all([this.#timer, ...[...this.#workers.values()].map((worker) => worker.done)]);
  }

  /** A source names the pod: first time, changed, or deletion asked for. */
  updatePod(pod: DesiredPod): void {
    const known = this.#workers.get(pod.uid);
    const mustWait = isStatic(pod) && known === undefined && !this.#staticPods.add(pod.fullName, pod.uid);
    this.#apply(pod.uid, { type: 'configured', pod, mustWait });
  }

  /** No source names the pod any more. */
  remove(uid: PodUid): void {
    this.#apply(uid, { type: 'removed' });
  }

  /** The runtime has a pod that no source names. */
  adoptOrphan(orphan: PodReference): void {
    this.#apply(orphan.uid, { type: 'orphaned', ...orphan });
  }

  /** Ends a pod that its source still names: eviction, preemption, deadline, shutdown. */
  terminate(uid: PodUid, how: Partial<Termination>): void {
    this.#apply(uid, { type: 'killed', ...how });
  }

  /** Syncs the pod again, because something about it may have changed. */
  wake(uid: PodUid): void {
    this.#workers.get(uid)?.wake();
  }

  /**
   * Removes the worker of a pod that is finished and removed from its source; returns whether it did. Called when nothing of
   * the pod is left that a new life could collide with: a pod that its source names again begins its new life here.
   */
  forget(uid: PodUid): boolean {
    const worker = this.#workers.get(uid);
    const state = worker?.state;
    if (worker === undefined || state?.phase !== 'finished' || !state.removedFromSource) return false;
    worker.close();
    this.#workers.delete(uid);
    this.#deps.lifecycles.forget(uid);
    this.#delays.cancel(uid);
    if (state.next !== undefined) {
      this.#metrics.restarted(state.next);
      this.#deps.onPodRecreated(state.next);
    }
    return true;
  }

  /** How many pods have a worker. */
  size(): number {
    return this.#workers.size;
  }

  /** A static pod of that name has not finished. */
  isNameTaken(fullName: PodFullName): boolean {
    return this.#staticPods.isTaken(fullName);
  }

  #apply(uid: PodUid, event: WorkerEvent): void {
    const known = this.#workers.get(uid);
    if (known !== undefined) return known.apply(event);
    const first = PodWorker.initialState(event);
    if (first === undefined || this.#stopped.signal.aborted) return;
    const { clock, random, log, heartbeats, syncer, decisions, resyncMs } = this.#deps;
    const worker = new PodWorker(
      {
        uid,
        clock,
        random,
        log,
        heartbeats,
        syncer,
        decisions,
        resyncMs,
        requeueAfter: (ms) => this.#delays.add(uid, ms),
        onChange: (state) => this.#changed(uid, state),
        metrics: this.#metrics,
      },
      event,
      first,
    );
    this.#workers.set(uid, worker);
    const target = targetOf(first);
    if (target.kind === 'desired') this.#metrics.began(target.pod);
    else this.#metrics.orphaned();
    worker.start();
  }

  #changed(uid: PodUid, state: WorkerState): void {
    this.#deps.lifecycles.set(uid, state);
    if (state.phase === 'finished') this.#finished(uid, state);
    this.#deps.onChange(uid);
  }

  /** Starts the next static pod of the same full name. */
  #finished(uid: PodUid, state: Extract<WorkerState, { phase: 'finished' }>): void {
    const target = targetOf(state);
    if (target.kind === 'desired' && isStatic(target.pod)) {
      const next = this.#staticPods.remove(target.pod.fullName, uid);
      if (next !== undefined) this.#apply(next, { type: 'turn' });
    }
  }
}
