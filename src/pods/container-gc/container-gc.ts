import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { describeError, isKind } from '../../base/errors.ts';
import type { PodUid } from '../../base/ids.ts';
import { Limiter } from '../../base/limiter.ts';
import type { Heartbeats, Round } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import { superviseLoop, type LoopHandle } from '../../base/loop.ts';
import { Mailbox } from '../../base/mailbox.ts';
import type { Random } from '../../base/random.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';
import { podFields } from '../../model/pod-log.ts';
import {
  computeEvictable,
  computeEvictableSandboxes,
  unitsOf,
  type Evictable,
  type GcPolicy,
} from './compute-evictable.ts';
import type { GcLogs, GcPod, GcPods, GcRuntime } from './ports.ts';

export interface ContainerGcDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly pods: GcPods;
  readonly runtime: GcRuntime;
  readonly logs: GcLogs;
  readonly policy: GcPolicy;
  /** Something could not be removed; the message is for people. */
  readonly onFailed: (message: string) => void;
}

/** The period of rounds without a wake. */
const resyncMs = 60_000;
/** Pods whose containers are removed at a time: one removal that hangs must not hold up the others. */
const maxAtOnce = 4;

/** Removes dead containers and sandboxes of pods that exist, by the policy. */
export class ContainerGc implements Component {
  readonly name = 'container-gc';
  readonly #deps: ContainerGcDeps;
  readonly #mailbox = new Mailbox<'reconcile'>((waiting) => waiting);
  readonly #limiter = new Limiter(maxAtOnce);
  readonly #stopped = new AbortController();
  /** What could not be removed, and why: logged once, not at every round. */
  #stuck: ReadonlyMap<PodUid, string> = new Map();
  #loop: LoopHandle | undefined;

  constructor(deps: ContainerGcDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    const { clock, random, log, heartbeats } = this.#deps;
    const body = (signal: AbortSignal, round: Round): Promise<void> => this.#round(signal, round);
    this.#loop = superviseLoop({ name: this.name, heartbeats, clock, random, log, signal: this.#stopped.signal, body });
    this.wake();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop?.done;
  }

  wake(): void {
    this.#mailbox.put('reconcile');
  }

  async #round(signal: AbortSignal, round: Round): Promise<void> {
    const cancel = this.#deps.clock.after(resyncMs, () => this.wake());
    try {
      await round.waitFor(this.#mailbox.take(signal));
    } finally {
      cancel();
    }
    await this.collect(signal, this.#deps.policy, () => round.beat());
  }

  /** One round over all pods. Eviction passes a stricter policy when the disk is short; each removal is a step. */
  async collect(
    signal: AbortSignal,
    policy: GcPolicy = this.#deps.policy,
    onStep: () => void = () => {},
  ): Promise<void> {
    const pods = [...this.#deps.pods.existing()];
    const units = pods.flatMap(({ observed, contentRemovable }) => unitsOf(observed, contentRemovable));
    const evictable = byPod(computeEvictable(units, policy, this.#deps.clock.now()));
    const stuck = new Map<PodUid, string>();
    await Promise.all(
      pods.map(async (pod) => {
        const { uid } = pod.observed;
        try {
          await this.#limiter.run(() => this.#clear(pod, evictable.get(uid) ?? [], signal, onStep), signal);
        } catch (error) {
          if (!signal.aborted) stuck.set(uid, this.#failed(pod.observed, error));
        }
      }),
    );
    if (!signal.aborted) this.#stuck = stuck;
  }

  async #clear(pod: GcPod, evictable: readonly Evictable[], signal: AbortSignal, onStep: () => void): Promise<void> {
    const { pods, runtime, logs, log } = this.#deps;
    const { observed, contentRemovable } = pod;
    const evictedIds = new Set(evictable.map(({ id }) => id));
    const sandboxes = computeEvictableSandboxes(observed, evictedIds, contentRemovable);
    if (evictable.length + sandboxes.length === 0) return;
    try {
      for (const { id, logPath, reason } of evictable) {
        log.debug(3, 'Removing dead container', { ...podFields(observed), containerID: id, reason });
        // The log first: after the container has been removed, its path is not known any more.
        if (logPath !== undefined) await logs.remove(logPath);
        await ignoreNotFound(runtime.removeContainer({ containerId: id }, { signal }));
        onStep();
      }
      for (const id of sandboxes) {
        log.debug(3, 'Removing dead sandbox', { ...podFields(observed), podSandboxID: id });
        await ignoreNotFound(runtime.removePodSandbox({ podSandboxId: id }, { signal }));
        onStep();
      }
    } finally {
      if (!signal.aborted) await pods.inspect(observed.uid, signal);
    }
  }

  #failed(observed: ObservedPod, error: unknown): string {
    const why = describeError(error);
    if (this.#stuck.get(observed.uid) !== why) {
      this.#deps.log.error(error, 'Cannot remove dead containers, will try again', podFields(observed));
      this.#deps.onFailed(why);
    }
    return why;
  }
}

function byPod(evictable: readonly Evictable[]): ReadonlyMap<PodUid, readonly Evictable[]> {
  const pods = new Map<PodUid, Evictable[]>();
  for (const one of evictable) {
    const ofPod = pods.get(one.uid);
    if (ofPod === undefined) pods.set(one.uid, [one]);
    else ofPod.push(one);
  }
  return pods;
}

/** Another process may have removed it already. */
async function ignoreNotFound(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isKind(error, 'notFound')) throw error;
  }
}
