import type { Clock } from '../base/clock.ts';
import type { Component } from '../base/component.ts';
import type { PodUid } from '../base/ids.ts';
import type { Heartbeats, Round } from '../base/heartbeats.ts';
import type { Log } from '../base/log.ts';
import { superviseLoop } from '../base/loop.ts';
import type { Counter, Metrics } from '../base/metrics.ts';
import type { Random } from '../base/random.ts';
import type { PodSpec } from '../gen/kubernetes/types.ts';
import type { Decisions } from '../model/decisions.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import { podEvents } from '../model/event-reasons.ts';
import { podFields } from '../model/pod-log.ts';
import { isCriticalPod } from '../model/qos.ts';
import type { PerPodState } from '../model/pod-removal.ts';
import { podReasons } from '../model/reasons.ts';
import { exceededLimit, storageLimits, type ExceededLimit, type StorageLimits } from './local-storage-limits.ts';
import type { ActivePods, EvictionEvents, PodTermination, StorageMeter } from './ports.ts';

interface LocalStorageEvictionDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly metrics: Metrics;
  readonly pods: ActivePods;
  readonly workers: PodTermination;
  readonly meter: StorageMeter;
  readonly decisions: Decisions;
  readonly events: EvictionEvents;
}

const periodMs = 10_000;
/** An eviction ignores the pod's own grace period, because the disk fills meanwhile. */
const graceSeconds = 1;

/**
 * Evicts pods that exceed their limits of local storage. A component of its own because it needs no other measurements;
 * nodes with `localStorageCapacityIsolation` off do not have it.
 */
export class LocalStorageEviction implements Component, PerPodState {
  readonly name = 'local-storage-eviction';
  readonly #deps: LocalStorageEvictionDeps;
  readonly #stopped = new AbortController();
  readonly #evictions: Counter<'eviction_signal'>;
  /** Specs are frozen, so that the limits of each are computed once. */
  readonly #limits = new WeakMap<PodSpec, { readonly limits: StorageLimits | undefined }>();
  /** Critical pods that exceed a limit and are not evicted, with the message that was reported. */
  readonly #skippedCritical = new Map<PodUid, string>();
  #loop: Promise<void> | undefined;

  constructor(deps: LocalStorageEvictionDeps) {
    this.#deps = deps;
    this.#evictions = deps.metrics.counter({
      name: 'kubelet_evictions',
      help: 'Pods that were evicted, by the signal that was the reason.',
      stability: 'ALPHA',
      labels: ['eviction_signal'],
    });
  }

  async start(): Promise<void> {
    const { clock, random, log, heartbeats } = this.#deps;
    const body = async (signal: AbortSignal, round: Round): Promise<void> => {
      await round.waitFor(clock.sleep(periodMs, signal));
      await this.#synchronize();
    };
    this.#loop = superviseLoop({
      name: this.name,
      heartbeats,
      clock,
      random,
      log,
      signal: this.#stopped.signal,
      body,
    }).done;
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop;
  }

  forget(uid: PodUid): void {
    this.#skippedCritical.delete(uid);
  }

  size(): number {
    return this.#skippedCritical.size;
  }

  async #synchronize(): Promise<void> {
    const { pods, meter } = this.#deps;
    const limited = pods.activePods().flatMap((pod) => {
      const limits = this.#limitsOf(pod.spec);
      return limits === undefined ? [] : [{ pod, limits }];
    });
    this.#forgetSkipped(limited);
    if (limited.length === 0) return;
    const scopes = new Map(limited.map(({ pod, limits }) => [pod.uid, scopeOf(limits)] as const));
    const usages = await meter.storage(scopes);
    // Some pods may have ended during the measurement.
    const active = new Set(pods.activePods().map(({ uid }) => uid));
    for (const { pod, limits } of limited) {
      const usage = usages.get(pod.uid);
      if (usage === undefined || !active.has(pod.uid) || this.#stopped.signal.aborted) continue;
      const exceeded = exceededLimit(limits, usage);
      if (exceeded === undefined) this.#skippedCritical.delete(pod.uid);
      else if (isCriticalPod(pod)) this.#skipCritical(pod, exceeded);
      else this.#evict(pod, exceeded);
    }
  }

  #limitsOf(spec: PodSpec): StorageLimits | undefined {
    const known = this.#limits.get(spec);
    if (known !== undefined) return known.limits;
    const limits = storageLimits(spec);
    this.#limits.set(spec, { limits });
    return limits;
  }

  #evict(pod: DesiredPod, { signal, message, used, limit }: ExceededLimit): void {
    const { workers, events, decisions, log } = this.#deps;
    log.info('Evicting pod', { ...podFields(pod), message });
    events.record(pod, { type: 'Warning', reason: podEvents.evicted, message });
    const decision = { kind: 'evict', by: 'eviction', reason: podReasons.evicted, message } as const;
    const inputs = { signal, usedBytes: used, limit };
    decisions.pod(pod, { ...decision, inputs });
    decisions.node({ ...decision, inputs: { pod: `${pod.namespace}/${pod.name}`, podUID: pod.uid, ...inputs } });
    workers.terminate(pod.uid, { graceSeconds, decided: { reason: podReasons.evicted, message } });
    this.#evictions.inc({ eviction_signal: signal });
  }

  /** Reports each limit once, and not every ten seconds. */
  #skipCritical(pod: DesiredPod, { signal, message, used, limit }: ExceededLimit): void {
    if (this.#skippedCritical.get(pod.uid) === message) return;
    this.#skippedCritical.set(pod.uid, message);
    const fields = { ...podFields(pod), message };
    const inputs = { signal, usedBytes: used, limit };
    this.#deps.decisions.pod(pod, { kind: 'refuse', by: 'eviction', reason: 'CriticalPod', message, inputs });
    this.#deps.log.warn('A critical pod exceeds a limit and is not evicted', fields);
  }

  #forgetSkipped(limited: readonly { readonly pod: DesiredPod }[]): void {
    if (this.#skippedCritical.size === 0) return;
    const present = new Set(limited.map(({ pod }) => pod.uid));
    for (const uid of this.#skippedCritical.keys()) if (!present.has(uid)) this.#skippedCritical.delete(uid);
  }
}

/** A pod that limits only its volumes needs no measurement of the rest. */
function scopeOf({ pod, containers }: StorageLimits): 'volumes' | 'everything' {
  return pod === undefined && containers.length === 0 ? 'volumes' : 'everything';
}
