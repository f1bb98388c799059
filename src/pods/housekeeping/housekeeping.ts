import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { messageOf } from '../../base/errors.ts';
import { podUid, type PodUid } from '../../base/ids.ts';
import type { Heartbeats, Round } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import { superviseLoop, type LoopHandle } from '../../base/loop.ts';
import { Mailbox } from '../../base/mailbox.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { Random } from '../../base/random.ts';
import { podFields, podUidFields } from '../../model/pod-log.ts';
import type { Decision, Decisions } from '../../model/decisions.ts';
import { computeLeftovers } from './compute-leftovers.ts';
import { housekeepingMetrics, type HousekeepingMetrics } from './housekeeping-metrics.ts';
import type { Directories, Lifecycles, Observations, Remover, Workers } from './ports.ts';

interface HousekeepingDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly sourcesReady: () => boolean;
  readonly isDesired: (uid: PodUid) => boolean;
  readonly lifecycles: Lifecycles;
  readonly workers: Workers;
  readonly observed: Observations;
  readonly remover: Remover;
  readonly directories: Directories;
  readonly decisions: Decisions;
  /** Pods that some component remembers, perhaps from a checkpoint of an earlier process of the agent. */
  readonly remembered: () => Iterable<PodUid>;
  /** Drops what is remembered of a pod of which nothing is left. */
  readonly podRemoval: { podRemoved(uid: PodUid): void };
  readonly metrics: Metrics;
}

/** A pod of which something could not be removed so far. It is retried. */
export interface StuckPod {
  readonly uid: PodUid;
  readonly why: string;
  /** Wall milliseconds of the first failure for this reason. */
  readonly since: number;
  /** How many in a row, for whatever reasons. */
  readonly failures: number;
}

/** The period of rounds without a wake. */
const resyncMs = 30_000;
const firstRetryMs = 500;

/** Removes what pods leave behind, in the runtime and on disk. Woken when there may be something, else a slow resync. */
export class Housekeeping implements Component {
  readonly name = 'housekeeping';
  readonly #deps: HousekeepingDeps;
  readonly #mailbox = new Mailbox<'reconcile'>((waiting) => waiting);
  readonly #stopped = new AbortController();
  /** What could not be removed, and why: logged once, not at every round. */
  readonly #stuck = new Map<PodUid, StuckPod>();
  #retry: CancelTimer | undefined;
  /** Removals under way: one that hangs holds up neither the others nor the next round. They never reject. */
  readonly #removals = new Map<PodUid, Promise<void>>();
  #loop: LoopHandle | undefined;
  readonly #metrics: HousekeepingMetrics;
  /** Directories of unknown pods that were removed, and that could not be, since the last round. */
  #orphanedDirectories = { removed: 0, failed: 0 };

  constructor(deps: HousekeepingDeps) {
    this.#deps = deps;
    this.#metrics = housekeepingMetrics(deps.metrics, () => this.#stuck.size);
  }

  async start(): Promise<void> {
    const { clock, random, log, heartbeats } = this.#deps;
    const body = (signal: AbortSignal, round: Round): Promise<void> => this.#round(signal, round);
    this.#loop = superviseLoop({
      name: this.name,
      heartbeats,
      carriesPods: true,
      clock,
      random,
      log,
      signal: this.#stopped.signal,
      body,
    });
    this.wake();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#retry?.();
    await Promise.all([this.#loop?.done, ...this.#removals.values()]);
  }

  wake(): void {
    this.#mailbox.put('reconcile');
  }

  /** What could not be removed, and why, for people. */
  stuck(): readonly StuckPod[] {
    return [...this.#stuck.values()];
  }

  /** How many pods could not be removed, or are being removed. */
  size(): number {
    return this.#stuck.size + this.#removals.size;
  }

  #wakeIn(ms: number): void {
    this.#retry ??= this.#deps.clock.after(ms, () => {
      this.#retry = undefined;
      this.wake();
    });
  }

  async #round(signal: AbortSignal, round: Round): Promise<void> {
    const cancel = this.#deps.clock.after(resyncMs, () => this.wake());
    try {
      await round.waitFor(this.#mailbox.take(signal));
    } finally {
      cancel();
    }
    if (this.#deps.sourcesReady()) await this.#reconcile(signal);
  }

  /** One round, and the end of the removals that it began. */
  async runOnce(signal: AbortSignal): Promise<void> {
    await this.#reconcile(signal);
    await Promise.all(this.#removals.values());
  }

  async #reconcile(signal: AbortSignal): Promise<void> {
    const { lifecycles, workers, observed, directories, isDesired, sourcesReady, podRemoval } = this.#deps;
    this.#metrics.swept(this.#orphanedDirectories.removed, this.#orphanedDirectories.failed);
    this.#orphanedDirectories = { removed: 0, failed: 0 };
    // The disk is read first: a pod that starts meanwhile has a worker before its files are compared.
    const onDisk = [...(await directories.uids())].map(podUid);
    this.#forgetRemoved(new Set(onDisk));
    const leftovers = computeLeftovers({
      sourcesReady: sourcesReady(),
      isDesired,
      workers: lifecycles.uids().map((uid) => ({ uid, canBeRemoved: lifecycles.canBeRemoved(uid) })),
      inRuntime: [...observed.listed()].map(([uid, { name, namespace }]) => ({ uid, name, namespace })),
      onDisk,
      remembered: [...this.#deps.remembered()],
    });
    for (const orphan of leftovers.orphans) workers.adoptOrphan(orphan);
    for (const uid of leftovers.remains) this.#beginRemoval(uid, () => this.#removeRemains(uid, signal));
    for (const uid of leftovers.onlyRemembered) podRemoval.podRemoved(uid);
    for (const uid of leftovers.orphanedDirectories)
      this.#beginRemoval(uid, () => this.#removeOrphanedDirectory(uid, signal));
  }

  /** Another process may have removed what we could not. */
  #forgetRemoved(onDisk: ReadonlySet<PodUid>): void {
    const { lifecycles, observed } = this.#deps;
    const withWorker = new Set(lifecycles.uids());
    for (const uid of this.#stuck.keys()) {
      if (!onDisk.has(uid) && !withWorker.has(uid) && !observed.listed().has(uid)) this.#stuck.delete(uid);
    }
  }

  #beginRemoval(uid: PodUid, removal: () => Promise<void>): void {
    if (this.#removals.has(uid)) return;
    this.#removals.set(
      uid,
      this.#attempt(uid, removal).finally(() => this.#removals.delete(uid)),
    );
  }

  /** A pod that comes back under its uid waits for this: only `forget` lets its new life begin. */
  async #removeRemains(uid: PodUid, signal: AbortSignal): Promise<void> {
    const { lifecycles, workers, observed, remover, directories, podRemoval, log } = this.#deps;
    const remains = await observed.inspect(uid, signal);
    if (!lifecycles.canBeRemoved(uid)) return;
    if (lifecycles.continuesFormerLife(uid)) {
      log.debug(2, 'Pod starts again', podFields(remains));
      this.#record(uid, decided('restart', 'FormerLifeGoesOn', 'its containers start again as the next attempts'));
    } else {
      await remover.remove(remains, signal);
      if (!lifecycles.canBeRemoved(uid)) return;
      await directories.remove(uid);
      // Observations must not show what has been removed.
      await observed.inspect(uid, signal);
      if (!lifecycles.canBeRemoved(uid)) return;
      log.debug(2, 'Pod removed', podFields(remains));
      this.#record(uid, decided('remove', 'Removed', 'nothing of it is left in the runtime and on disk'));
    }
    // All per-pod state of the old life is dropped before a new one begins.
    podRemoval.podRemoved(uid);
    workers.forget(uid);
  }

  async #removeOrphanedDirectory(uid: PodUid, signal: AbortSignal): Promise<void> {
    const { observed, directories, lifecycles, isDesired, podRemoval, log } = this.#deps;
    // A relist does not show a pod whose own list the runtime could not send: it may run, and use its volumes.
    const { sandboxes, containers } = await observed.inspect(uid, signal);
    if (isDesired(uid) || lifecycles.knows(uid)) return;
    if (sandboxes.length + containers.length > 0) return this.wake();
    // Logged once, however often it is retried.
    if (!this.#stuck.has(uid)) {
      log.info('Removing orphaned pod directory', podUidFields(uid));
      this.#record(uid, decided('remove', 'OrphanedDirectory', 'no source names the pod, and there are files of it'));
    }
    try {
      await directories.remove(uid);
      this.#orphanedDirectories.removed++;
    } catch (error) {
      this.#orphanedDirectories.failed++;
      throw error;
    }
    // The pod may have come back under its uid meanwhile; then the per-pod state is that of its new life.
    if (!isDesired(uid) && !lifecycles.knows(uid)) podRemoval.podRemoved(uid);
  }

  /** Removes what is left of one pod; a failure is recorded and retried, and holds up no other pod. */
  async #attempt(uid: PodUid, removal: () => Promise<void>): Promise<void> {
    const { clock, log, observed } = this.#deps;
    try {
      await removal();
      this.#stuck.delete(uid);
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      const why = messageOf(error);
      const before = this.#stuck.get(uid);
      const failures = (before?.failures ?? 0) + 1;
      const since = before?.why === why ? before.since : clock.now();
      this.#stuck.set(uid, { uid, why, since, failures });
      // Soon at first, because most obstacles end by themselves; then with the resync.
      const retryMs = firstRetryMs * 2 ** (failures - 1);
      if (retryMs < resyncMs) this.#wakeIn(retryMs);
      const nextTryInMs = Math.min(retryMs, resyncMs);
      this.#record(uid, { ...decided('retry', 'CannotRemove', why), inputs: { failures }, nextTryInMs });
      if (before?.why === why) return;
      log.error(
        error,
        'Cannot remove what is left of a pod, will try again',
        podFields({ ...observed.listed().get(uid), uid }),
      );
    }
  }

  #record(uid: PodUid, decision: Decision): void {
    this.#deps.decisions.pod({ uid }, decision);
  }
}

function decided(kind: Decision['kind'], reason: string, message: string): Decision {
  return { kind, by: 'housekeeping', reason, message };
}
