import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { describeError, kindOf, TubeletError } from '../../base/errors.ts';
import { podUid, type PodUid } from '../../base/ids.ts';
import type { Heartbeats, Round } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import { superviseLoop, type LoopHandle } from '../../base/loop.ts';
import type { Random } from '../../base/random.ts';
import { podCgroup, qosCgroup, type CgroupName } from '../../model/cgroup-names.ts';
import type { CgroupValues } from '../../model/cgroup-values.ts';
import { minShares } from '../../model/cpu.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { podFields, podUidFields } from '../../model/pod-log.ts';
import { podQos, type QosClass } from '../../model/qos.ts';
import type { NodeCgroups } from './node-cgroups.ts';
import { podCgroupValues, type PodCgroupSettings } from './pod-cgroup-values.ts';
import type { CgroupManager, CgroupPods, PodContainerManager } from './ports.ts';
import type { QosTiers } from './qos-tiers.ts';

interface PodCgroupsDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly manager: CgroupManager;
  readonly node: Pick<NodeCgroups, 'check' | 'make' | 'enforce' | 'enforceReserved'>;
  readonly tiers: Pick<QosTiers, 'make' | 'update'>;
  readonly pods: CgroupPods;
  readonly settings: PodCgroupSettings;
  readonly cgroupRoot: string;
  /** Exclusive CPUs need no quota. */
  readonly hasExclusiveCpus: (uid: PodUid) => boolean;
}

/**
 * What this process knows of a pod's cgroup.
 *
 *   unknown ──was not there──> made  ──values written──> settled
 *           ──was there──────> found ──values written, or refused and logged──> settled      any ──remove──> unknown
 */
type CgroupState = 'made' | 'found' | 'settled';

/** A cgroup of a pod that this process was never asked to make. */
interface Orphan {
  readonly uid: PodUid;
  readonly name: CgroupName;
}

const resyncMs = 60_000;
const qosClasses: readonly QosClass[] = ['Guaranteed', 'Burstable', 'BestEffort'];

/** The cgroups of pods: made before the first container, removed after the last. */
export class PodCgroups implements PodContainerManager, Component {
  readonly name = 'pod-cgroups';
  readonly #deps: PodCgroupsDeps;
  readonly #known = new Map<PodUid, CgroupState>();
  /** Removals under way. They never reject. */
  readonly #removals = new Map<PodUid, Promise<void>>();
  readonly #stopped = new AbortController();
  #loop: LoopHandle | undefined;

  constructor(deps: PodCgroupsDeps) {
    this.#deps = deps;
  }

  /** Pods may sync as soon as this is done. Failures are fatal: pods would run without their limits. */
  async start(): Promise<void> {
    const { clock, random, log, node, tiers, heartbeats } = this.#deps;
    node.check();
    await node.make();
    await tiers.make();
    await node.enforce();
    await node.enforceReserved();
    const body = (signal: AbortSignal, round: Round): Promise<void> => this.#round(signal, round);
    this.#loop = superviseLoop({ name: this.name, heartbeats, clock, random, log, signal: this.#stopped.signal, body });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop?.done;
  }

  /** False when the pod's containers, if there are any, live elsewhere. */
  exist(pod: DesiredPod): boolean {
    return this.#deps.manager.missing(this.#nameOf(pod)) === undefined;
  }

  /** Makes the pod's cgroup with its values. Cheap when it is there already. */
  async ensure(pod: DesiredPod): Promise<void> {
    const { manager, log } = this.#deps;
    const { uid } = pod;
    // A removal that begins later than this finds the pod known.
    while (this.#removals.has(uid)) await this.#removals.get(uid);
    const name = this.#nameOf(pod);
    const isThere = manager.missing(name) === undefined;
    if (isThere && this.#known.get(uid) === 'settled') return;
    if (!this.#known.has(uid)) this.#known.set(uid, isThere ? 'found' : 'made');
    await this.#updateTiers();
    try {
      await manager.create(name, this.#valuesOf(pod));
    } catch (cause) {
      if (this.#known.get(uid) !== 'found') throw notMade(name, cause);
      // The pod keeps running with the values it has.
      const fields = { ...podFields(pod), cgroup: manager.pathOf(name) };
      log.error(cause, 'Cannot bring the cgroup of a pod up to date', fields);
    }
    this.#known.set(uid, 'settled');
  }

  /** New values for a pod that runs. A resize raises them before its containers' values, and lowers them after those. */
  async update(pod: DesiredPod): Promise<void> {
    await this.#deps.manager.update(this.#nameOf(pod), this.#valuesOf(pod));
    await this.#updateTiers();
  }

  /** Tries every QoS tier: the pod's class may not be known any more. */
  async remove(uid: PodUid): Promise<void> {
    const before = this.#removals.get(uid) ?? Promise.resolve();
    const removal = before.then(() => this.#remove(uid));
    const ended = removal
      .catch(() => {})
      .then(() => {
        if (this.#removals.get(uid) === ended) this.#removals.delete(uid);
      });
    this.#removals.set(uid, ended);
    await removal;
    await this.#updateTiers();
  }

  /** The resync removes a cgroup that is left all the same as an orphan. */
  forget(uid: PodUid): void {
    this.#known.delete(uid);
  }

  /** How many pods have a cgroup that this process has made or found. */
  size(): number {
    return this.#known.size;
  }

  removalsUnderWay(): number {
    return this.#removals.size;
  }

  async #remove(uid: PodUid): Promise<void> {
    const { manager, log, cgroupRoot } = this.#deps;
    for (const qos of qosClasses) {
      const { removed, busy = [], processes } = await manager.destroy(podCgroup(cgroupRoot, qos, uid));
      if (processes.length > 0)
        log.info('Killed what was left in the cgroup of a pod', { ...podUidFields(uid), processes });
      if (!removed) throw new TubeletError('conflict', `processes of pod ${uid} are still in ${busy.join(', ')}`);
    }
    this.#known.delete(uid);
  }

  async #round(signal: AbortSignal, round: Round): Promise<void> {
    await round.waitFor(this.#deps.clock.sleep(resyncMs, signal));
    await this.#deps.node.enforce();
    round.beat();
    await this.#updateTiers();
    for (const orphan of this.#orphans()) {
      round.beat();
      await this.#tidyOrphan(orphan);
    }
  }

  /** Pods with a cgroup that `ensure` was not called for in this process. */
  #orphans(): readonly Orphan[] {
    const { manager, cgroupRoot } = this.#deps;
    return qosClasses
      .flatMap((qos) => manager.children(qosCgroup(cgroupRoot, qos)))
      .flatMap((name) => {
        const uid = /^pod(.+)$/.exec(name.at(-1) ?? '')?.[1];
        return uid === undefined ? [] : [{ uid: podUid(uid), name }];
      })
      .filter(({ uid }) => !this.#known.has(uid));
  }

  /** What is left on disk may be a volume that a process writes to. It gets little CPU until housekeeping has removed that. */
  async #tidyOrphan({ uid, name }: Orphan): Promise<void> {
    const { pods, manager, log } = this.#deps;
    const trace = await pods.trace(uid);
    if (trace === 'known' || this.#known.has(uid)) return;
    try {
      if (trace === 'none') {
        log.info('Removing orphaned cgroup of a pod', podUidFields(uid));
        await this.remove(uid);
        return;
      }
      log.info('Orphaned pod found, but volumes not yet removed.  Reducing cpu to minimum', podUidFields(uid));
      await manager.update(name, { cpuShares: minShares });
    } catch (error) {
      log.error(error, 'Cannot remove orphaned cgroup of a pod, will try again', podUidFields(uid));
    }
  }

  /** Failures are logged only: wrong weights of tiers must not keep a pod from starting or ending. */
  async #updateTiers(): Promise<void> {
    try {
      await this.#deps.tiers.update();
    } catch (error) {
      this.#deps.log.warn('Failed to update QoS cgroup configuration', { err: describeError(error) });
    }
  }

  #valuesOf(pod: DesiredPod): CgroupValues {
    const withoutCpuQuota = this.#deps.hasExclusiveCpus(pod.uid);
    return podCgroupValues(pod, this.#deps.settings, { withoutCpuQuota });
  }

  #nameOf(pod: DesiredPod): CgroupName {
    return podCgroup(this.#deps.cgroupRoot, podQos(pod), pod.uid);
  }
}

function notMade(name: CgroupName, cause: unknown): TubeletError {
  const message = `failed to create container for [${name.join(' ')}] : ${describeError(cause)}`;
  return new TubeletError(kindOf(cause), message, { cause });
}
