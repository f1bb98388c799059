import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import type { ContainerId, PodUid } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Decisions } from '../../model/decisions.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { LoopLag } from './loop-lag.ts';
import { PodProbes } from './pod-probes.ts';
import type { Events, LastKnown, Observations, ProbeMetrics, Prober } from './ports.ts';
import { ProbeResults } from './probe-results.ts';
import { probesOf } from './probe-settings.ts';
import type { WorkerDeps } from './probe-worker.ts';

interface ProbeManagerDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly prober: Prober;
  readonly observations: Observations;
  readonly events: Events;
  readonly decisions: Decisions;
  readonly metrics: ProbeMetrics;
  /** Gate ContainerRestartRules: containers may have restart policies and rules of their own. */
  readonly ownRestartRules: boolean;
  /** What an earlier run of the agent knew of a container instance, so that a restart of the agent changes no readiness. */
  readonly lastKnown: (uid: PodUid, containerName: string, id: ContainerId) => LastKnown | undefined;
  /** A result changed that others act upon: sync the pod. */
  readonly onChange: (uid: PodUid) => void;
}

/** Probes the containers of all pods that have probes, and owns the results. */
export class ProbeManager implements Component {
  readonly name = 'probes';
  readonly results: ProbeResults;
  readonly #deps: ProbeManagerDeps;
  readonly #workerDeps: WorkerDeps;
  readonly #pods = new Map<PodUid, PodProbes>();
  #stopped = false;

  constructor(deps: ProbeManagerDeps) {
    const { clock, log, prober, events, decisions, metrics, lastKnown } = deps;
    this.#deps = deps;
    this.results = new ProbeResults(() => {
      if (this.#stopped) return;
      for (const pod of this.#pods.values()) pod.catchUp();
    });
    this.#workerDeps = {
      clock,
      log,
      prober,
      events,
      decisions,
      metrics,
      lastKnown,
      results: this.results,
      lag: new LoopLag(clock),
      agentStart: { monotonic: clock.monotonic(), wall: clock.now() },
    };
  }

  /** Workers are created with their pods. */
  async start(): Promise<void> {}

  /** Probing ends; results stay, because status and sync may ask for them until the agent has stopped. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const pod of this.#pods.values()) pod.halt();
  }

  /** Begins to probe a pod, and takes in its newest version where it is probed already. Meant to be called at each sync. */
  addPod(pod: DesiredPod): void {
    if (this.#stopped) return;
    const known = this.#pods.get(pod.uid);
    if (known !== undefined) {
      known.update(pod);
      return;
    }
    const { random, observations, onChange, ownRestartRules } = this.#deps;
    if (probesOf(pod, ownRestartRules).length === 0) return;
    const probes = new PodProbes({ worker: this.#workerDeps, random, observations, onChange, ownRestartRules }, pod);
    this.#pods.set(pod.uid, probes);
    probes.update(pod);
  }

  /** Takes in a new version of a pod that is probed; for others it does nothing. */
  updatePod(pod: DesiredPod): void {
    if (!this.#stopped) this.#pods.get(pod.uid)?.update(pod);
  }

  /** The pod is being stopped: its liveness and startup probes end. Readiness goes on. */
  stopLivenessAndStartup(uid: PodUid): void {
    if (!this.#stopped) this.#pods.get(uid)?.end();
  }

  /** How many pods are probed. */
  size(): number {
    return this.#pods.size;
  }

  removePod(uid: PodUid): void {
    this.#pods.get(uid)?.remove();
    this.#pods.delete(uid);
  }
}
