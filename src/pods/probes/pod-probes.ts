import type { PodUid } from '../../base/ids.ts';
import type { Random } from '../../base/random.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { ObservedContainer, ObservedPod } from '../../model/observed-pod.ts';
import type { Observations } from './ports.ts';
import { probesOf, type ProbeAssignment } from './probe-settings.ts';
import { ProbeWorker, type WorkerDeps, type WorkerPod } from './probe-worker.ts';

interface PodProbesDeps {
  readonly worker: WorkerDeps;
  readonly random: Random;
  readonly observations: Observations;
  readonly onChange: (uid: PodUid) => void;
  readonly ownRestartRules: boolean;
}

/** The probes of one pod. Its workers share one observation; startup probes reconcile first. */
export class PodProbes implements WorkerPod {
  readonly #deps: PodProbesDeps;
  readonly #workers = new Map<string, ProbeWorker>();
  #pod: DesiredPod;
  #observed: ObservedPod | undefined;
  #stopping = false;
  /** The version of the pod that the workers were last assigned. */
  #assigned: DesiredPod | undefined;

  constructor(deps: PodProbesDeps, pod: DesiredPod) {
    this.#deps = deps;
    this.#pod = pod;
  }

  get pod(): DesiredPod {
    return this.#pod;
  }

  get ending(): boolean {
    return this.#stopping || this.#pod.metadata.deletionTimestamp !== undefined;
  }

  podIp(): string | undefined {
    return this.#deps.observations.podIp(this.#pod.uid);
  }

  newest(containerName: string): ObservedContainer | undefined {
    return this.#observed?.containers.find(({ name }) => name === containerName);
  }

  /** Cheap when there is no newer observation: a question about an unknown instance makes the workers of all pods catch up. */
  catchUp(): void {
    const observed = this.#deps.observations.get(this.#pod.uid);
    if (observed === this.#observed) return;
    this.#observed = observed;
    this.#reconcileAll();
  }

  /** A result changed: it may start the other probes, and the pod is synced. */
  resultChanged(): void {
    this.#reconcileAll();
    this.#deps.onChange(this.#pod.uid);
  }

  update(pod: DesiredPod): void {
    this.#pod = pod;
    if (this.#assigned !== pod) {
      this.#assigned = pod;
      this.#assign(probesOf(pod, this.#deps.ownRestartRules));
      this.#observed = this.#deps.observations.get(pod.uid);
      this.#reconcileAll();
    } else {
      this.catchUp();
    }
  }

  end(): void {
    this.#stopping = true;
    this.#reconcileAll();
  }

  halt(): void {
    for (const worker of this.#workers.values()) worker.halt();
  }

  remove(): void {
    for (const worker of this.#workers.values()) worker.remove();
    this.#workers.clear();
  }

  #assign(assignments: readonly ProbeAssignment[]): void {
    const wanted = new Map(assignments.map((one) => [`${one.settings.type} of ${one.container.name}`, one]));
    for (const [key, worker] of this.#workers) {
      if (wanted.has(key)) continue;
      worker.remove();
      this.#workers.delete(key);
    }
    for (const [key, assignment] of wanted) {
      const worker = this.#workers.get(key);
      if (worker !== undefined) worker.assign(assignment);
      else this.#workers.set(key, this.#createWorker(assignment));
    }
  }

  #createWorker(assignment: ProbeAssignment): ProbeWorker {
    return new ProbeWorker(this.#deps.worker, this, assignment, this.#deps.random.next());
  }

  #reconcileAll(): void {
    for (const worker of this.#workers.values()) worker.reconcile();
  }
}
