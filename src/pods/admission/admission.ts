import type { PodUid } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { AdmissionNode } from '../../model/admission-node.ts';
import type { Decisions } from '../../model/decisions.ts';
import { isStatic, type DesiredPod } from '../../model/desired-pod.ts';
import { podFields } from '../../model/pod-log.ts';
import { isTerminalPhase } from '../../model/reasons.ts';
import { admissionDecision } from './admission-decision.ts';
import { admissionMetrics, type AdmissionMetrics } from './admission-metrics.ts';
import { admissionChain, admitByRules } from './chain.ts';
import type { RunningPods } from './ports.ts';
import { admitted, type AdmissionRule, type PodAdmitResult } from './pod-admit-result.ts';

interface AdmissionDeps {
  readonly log: Log;
  readonly decisions: Decisions;
  /** The node as it is now. */
  readonly node: () => AdmissionNode;
  readonly running: RunningPods;
  /** The managers of CPUs, memory and devices, asked before the node's totals are compared. */
  readonly resourceManagers?: AdmissionRule;
  readonly metrics: Metrics;
}

/** Decides once for every pod whether it may run on this node. */
export class Admission {
  readonly #deps: AdmissionDeps;
  readonly #chain: readonly AdmissionRule[];
  readonly #metrics: AdmissionMetrics;
  /** The results so far: a pod that is decided again gets the same one. */
  readonly #decided = new Map<PodUid, PodAdmitResult>();
  /** Preempted pods: they may still be ending, but their requests do not count any more. */
  readonly #victims = new Set<PodUid>();
  /** Pods of which the runtime has containers that prove nothing: they are of a life that is over. */
  readonly #formerLives = new Set<PodUid>();

  constructor(deps: AdmissionDeps) {
    this.#deps = deps;
    this.#chain = admissionChain(deps.resourceManagers);
    this.#metrics = admissionMetrics(deps.metrics);
  }

  /**
   * Admits or rejects a pod beside the active pods. The result is final: an admitted pod is never rejected later, and a
   * rejected one has failed for good. Victims are named in the first result only.
   */
  decide(pod: DesiredPod, active: readonly DesiredPod[]): PodAdmitResult {
    const known = this.#decided.get(pod.uid);
    if (known !== undefined) return known;
    const wasAdmitted = this.#wasAdmitted(pod);
    const result = wasAdmitted ? admitted : this.#evaluate(pod, active);
    this.#formerLives.delete(pod.uid);
    this.#decided.set(pod.uid, result.admit === 'afterPreempting' ? admitted : result);
    this.#deps.decisions.pod(pod, admissionDecision(result, { wasAdmitted, activePods: active.length }));
    this.#report(pod, result);
    return result;
  }

  /** Whether the pod counts on this node: it was admitted, by this run of the agent or an earlier one, and may stay. */
  isAdmitted(pod: DesiredPod): boolean {
    if (this.#victims.has(pod.uid)) return false;
    const known = this.#decided.get(pod.uid);
    return known === undefined ? this.#wasAdmitted(pod) : known.admit !== false;
  }

  /** The pod was removed: a pod that comes under its uid later is decided anew, even if the runtime has old containers. */
  forget(uid: PodUid): void {
    this.#decided.delete(uid);
    this.#victims.delete(uid);
    if (this.#deps.running.hasContainers(uid)) this.#formerLives.add(uid);
    else this.#formerLives.delete(uid);
  }

  /** How many pods are remembered: results, victims and former lives. */
  size(): number {
    return this.#decided.size + this.#victims.size + this.#formerLives.size;
  }

  #evaluate(pod: DesiredPod, active: readonly DesiredPod[]): PodAdmitResult {
    const others = active.filter(({ uid }) => uid !== pod.uid && !this.#victims.has(uid));
    return admitByRules(this.#chain, { pod, active: others, node: this.#deps.node() });
  }

  /** Only an agent on this node writes a start time, and a pod that it rejected is Failed: any other was admitted. */
  #wasAdmitted(pod: DesiredPod): boolean {
    const { phase, startTime } = pod.status;
    const startedByUs = !isStatic(pod) && startTime !== undefined && !isTerminalPhase(phase);
    return startedByUs || (this.#deps.running.hasContainers(pod.uid) && !this.#formerLives.has(pod.uid));
  }

  #report(pod: DesiredPod, result: PodAdmitResult): void {
    const { log } = this.#deps;
    const fields = podFields(pod);
    if (result.admit === false) {
      const { reason, message } = result;
      log.info('Pod was not admitted', { ...fields, reason, message });
      this.#metrics.rejected(reason);
    } else if (result.admit === 'afterPreempting') {
      for (const uid of result.victims) {
        this.#victims.add(uid);
        this.#metrics.preempted(result.shortOf);
      }
      log.info('Preempting pods for a critical pod', { ...fields, victims: result.victims, resource: result.shortOf });
    }
  }
}
