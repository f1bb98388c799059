import { describeError, TubeletError } from '../../base/errors.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { Decision, Decisions } from '../../model/decisions.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { podEvents } from '../../model/event-reasons.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';
import { podFields } from '../../model/pod-log.ts';
import type { PodReference } from '../../model/pod-reference.ts';
import { isTerminalPhase } from '../../model/reasons.ts';
import type { DecidedEnd, RuntimeOutcome, SyncOutcome, Termination } from '../../model/sync-outcome.ts';
import type {
  Cgroups,
  Deadlines,
  Directories,
  Events,
  Objects,
  Observations,
  Probing,
  Runtime,
  Statuses,
  Volumes,
} from './ports.ts';

export interface PodSyncDeps {
  readonly log: Log;
  readonly decisions: Decisions;
  readonly observed: Observations;
  readonly runtime: Runtime;
  readonly volumes: Volumes;
  readonly directories: Directories;
  /** What the pod names in the API server; ready at once without one. */
  readonly objects: Objects;
  readonly cgroups: Cgroups;
  readonly statuses: Statuses;
  readonly events: Events;
  readonly deadlines: Deadlines;
  readonly probes: Probing;
}

/** The API's default; a source fills it in. */
const defaultGraceSeconds = 30;

/**
 * The four operations on a pod, each a list of steps read from top to bottom. They keep one thing: when each pod was
 * last acted upon, so that no step decides on an observation from before.
 */
export class PodSync {
  readonly #deps: PodSyncDeps;
  readonly #actedAt = new Map<PodUid, number>();

  constructor(deps: PodSyncDeps) {
    this.#deps = deps;
  }

  async syncPod(pod: DesiredPod, signal: AbortSignal): Promise<SyncOutcome> {
    const observed = await this.#observe(pod.uid, signal);
    // Before anything is published: readiness is known only of containers that are probed.
    this.#deps.probes.addPod(pod);
    const status = this.#publish(pod, observed);
    if (isTerminalPhase(status.phase)) return { kind: 'ended' };
    const deadline = this.#deps.deadlines.check(pod, status);
    if (deadline.end !== undefined) {
      const { message } = deadline.end;
      this.#deps.events.record(pod, { type: 'Normal', reason: podEvents.deadlineExceeded, message });
      const { startTime } = status;
      const inputs = { startTime, activeDeadlineSeconds: pod.spec.activeDeadlineSeconds };
      this.#deps.decisions.pod(pod, decided('giveUp', deadline.end.reason, message, inputs));
      return { kind: 'ended', decided: deadline.end };
    }

    if (await this.#killedOutsideCgroup(pod, observed, signal)) return settled(0);
    // The API server is asked for what the pod names while the machine makes room for it.
    const { objects } = this.#deps;
    await awaitAll([
      this.#waitsFor('ObjectsNotReady', pod, signal, () => objects.ready(pod, signal)),
      this.#prepareCgroupAndDirs(pod, signal),
    ]);
    await this.#waitsFor('VolumesNotReady', pod, signal, () => this.#deps.volumes.mount(pod, signal));
    // Disks and volumes take their time: the newest observation counts.
    const present = await this.#observe(pod.uid, signal);
    const outcome = await this.#acting(pod.uid, () => this.#deps.runtime.sync(pod, present, signal), changedNothing);
    const { acted, requeueAfterMs } = outcome;
    // A start that was refused changed nothing in the runtime, but the status gets its waiting reason.
    const fresh = acted || outcome.pruned === true ? await this.#observe(pod.uid, signal) : present;
    // How an instance ended is still true when the instance has been taken out.
    const { phase } = this.#publish(pod, acted ? fresh : present);
    if (outcome.ended === true || isTerminalPhase(phase)) return { kind: 'ended' };
    // What was just done may allow the next step: requeue at once, unless a refusal says when.
    const next = acted ? settled(requeueAfterMs ?? 0) : settled(requeueAfterMs, deadline.inMs);
    return this.#deps.statuses.statusPending(pod.uid) ? { ...next, statusPending: true } : next;
  }

  async syncTerminatingPod(pod: DesiredPod, how: Termination, signal: AbortSignal): Promise<void> {
    const observed = await this.#observe(pod.uid, signal);
    this.#publish(pod, observed, how);
    this.#deps.probes.stopLivenessAndStartup(pod.uid);
    await this.#stop(pod, pod.uid, observed, how.graceSeconds, signal);
    this.#deps.probes.removePod(pod.uid);
    const after = await this.#observe(pod.uid, signal);
    requireStopped(after);
    this.#publish(pod, after, { ...how, terminal: true });
  }

  async syncTerminatingRuntimePod(orphan: PodReference, graceSeconds: number, signal: AbortSignal): Promise<void> {
    const { uid } = orphan;
    this.#deps.log.info('Killing unwanted pod', podFields(orphan));
    await this.#stop(undefined, uid, await this.#observe(uid, signal), graceSeconds, signal);
    requireStopped(await this.#observe(uid, signal));
  }

  async syncTerminatedPod(
    target: { readonly kind: 'desired'; readonly pod: DesiredPod } | ({ readonly kind: 'orphan' } & PodReference),
    _signal: AbortSignal,
  ): Promise<void> {
    if (target.kind === 'desired') await this.#deps.volumes.unmount(target.pod);
    const uid = target.kind === 'desired' ? target.pod.uid : target.uid;
    await this.#deps.cgroups.remove(uid);
    if (target.kind === 'desired') this.#deps.statuses.finish(target.pod);
    this.#actedAt.delete(uid);
  }

  forget(uid: PodUid): void {
    this.#actedAt.delete(uid);
  }

  size(): number {
    return this.#actedAt.size;
  }

  #publish(
    pod: DesiredPod,
    observed: ObservedPod,
    how: { readonly terminal?: boolean; readonly decided?: DecidedEnd } = {},
  ): ReturnType<Statuses['publish']> {
    const { statuses, runtime } = this.#deps;
    return statuses.publish({
      pod,
      observed,
      needsSandbox: runtime.needsSandbox(pod, observed),
      terminal: how.terminal ?? false,
      ...(how.decided && { decided: how.decided }),
    });
  }

  #observe(uid: PodUid, signal: AbortSignal): Promise<ObservedPod> {
    return this.#deps.observed.newerThan(uid, this.#actedAt.get(uid) ?? 0, signal);
  }

  async #stop(
    pod: DesiredPod | undefined,
    uid: PodUid,
    observed: ObservedPod,
    graceSeconds: number,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#acting(uid, () => this.#deps.runtime.stop(pod, observed, graceSeconds, signal));
  }

  /** Observations from before an action are out of date after it, also after one that failed; unless it changed nothing. */
  async #acting<T>(
    uid: PodUid,
    action: () => Promise<T>,
    isNoAction: (outcome: T) => boolean = () => false,
  ): Promise<T> {
    let idle = false;
    try {
      const outcome = await action();
      idle = isNoAction(outcome);
      return outcome;
    } finally {
      if (!idle) this.#actedAt.set(uid, this.#deps.observed.observationSeq());
    }
  }

  /**
   * Containers must run in the pod's cgroup. Those that run elsewhere, because the configuration was another when they
   * started, are stopped; the next sync decides whether they start again.
   */
  async #killedOutsideCgroup(pod: DesiredPod, observed: ObservedPod, signal: AbortSignal): Promise<boolean> {
    const { cgroups, log } = this.#deps;
    if (runningIn(observed).length === 0 || cgroups.exist(pod)) return false;
    log.info('Stopping a pod that runs outside of its cgroup', podFields(pod));
    const inputs = { running: runningIn(observed) };
    this.#deps.decisions.pod(pod, decided('kill', 'OutsideOfCgroup', 'it runs outside of its cgroup', inputs));
    await this.#stop(pod, pod.uid, observed, pod.spec.terminationGracePeriodSeconds ?? defaultGraceSeconds, signal);
    return true;
  }

  /** One of the steps that must have been done before anything can run. What keeps it from being done is recorded. */
  async #waitsFor(reason: string, pod: DesiredPod, signal: AbortSignal, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      // A step that was cancelled has not failed.
      if (!signal.aborted) this.#deps.decisions.pod(pod, decided('wait', reason, describeError(error)));
      throw error;
    }
  }

  async #prepareCgroupAndDirs(pod: DesiredPod, signal: AbortSignal): Promise<void> {
    const { directories } = this.#deps;
    await this.#waitsFor('CgroupNotReady', pod, signal, () => this.#ensureCgroup(pod));
    await this.#waitsFor('DirectoriesNotReady', pod, signal, () => directories.prepare(pod.uid));
  }

  async #ensureCgroup(pod: DesiredPod): Promise<void> {
    const { cgroups, events } = this.#deps;
    try {
      await cgroups.ensure(pod);
    } catch (error) {
      const message = `unable to ensure pod container exists: ${describeError(error)}`;
      events.record(pod, { type: 'Warning', reason: podEvents.failedCreatePodContainer, message });
      throw error;
    }
  }
}

function decided(kind: Decision['kind'], reason: string, message: string, inputs?: Decision['inputs']): Decision {
  return { kind, by: 'pod-sync', reason, message, ...(inputs && { inputs }) };
}

/** Nothing was changed, tried, or found to be over. A try that was refused may have left something in the runtime. */
function changedNothing({ acted, pruned, requeueAfterMs, ended }: RuntimeOutcome): boolean {
  return !acted && pruned !== true && requeueAfterMs === undefined && ended !== true;
}

/** Rejects with the first failure after all work has ended, so that no work of a sync goes on after it. */
async function awaitAll(work: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) if (result.status === 'rejected') throw result.reason;
}

/** The shortest of some requeue delays. */
function settled(...waits: readonly (number | undefined)[]): Extract<SyncOutcome, { kind: 'settled' }> {
  const known = waits.filter((wait) => wait !== undefined);
  return { kind: 'settled', ...(known.length > 0 && { requeueAfterMs: Math.min(...known) }) };
}

const runningIn = ({ containers }: ObservedPod): readonly string[] =>
  containers.filter(({ state }) => state === 'running').map(({ name }) => name);

function requireStopped(observed: ObservedPod): void {
  const running = runningIn(observed);
  if (running.length === 0) return;
  throw new TubeletError('unavailable', `containers are still running after they were stopped: ${running.join(', ')}`);
}
