import type { Clock } from '../../base/clock.ts';
import type { PodUid } from '../../base/ids.ts';
import type { PodStatus } from '../../gen/kubernetes/types.ts';
import type { Decisions } from '../../model/decisions.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { ObjectEvent } from '../../model/object-event.ts';
import { isTerminalPhase } from '../../model/reasons.ts';
import type { Admission } from './admission.ts';
import { preemptDecision } from './admission-decision.ts';
import { preemptionDecision, preemptionEvent } from './preemption.ts';
import { rejectedStatus } from './rejection.ts';

interface PodGateDeps {
  readonly clock: Clock;
  readonly admission: Admission;
  readonly decisions: Decisions;
  readonly activePods: { activePods(): readonly DesiredPod[] };
  readonly statuses: { set(uid: PodUid, status: PodStatus): void };
  readonly events: {
    record(pod: DesiredPod, event: ObjectEvent): void;
  };
  /** Ends a preempted pod. */
  readonly terminate: (uid: PodUid, how: { readonly decided: typeof preemptionDecision }) => void;
}

/** Admits pods to their workers, and publishes the failure of those that are rejected. */
export class PodGate {
  readonly #deps: PodGateDeps;
  readonly #rejected = new Set<PodUid>();

  constructor(deps: PodGateDeps) {
    this.#deps = deps;
  }

  /** Whether the pod may go to its worker. */
  admit(pod: DesiredPod): boolean {
    const { admission, activePods, terminate, events, decisions } = this.#deps;
    // A rejection is final; the pod never ran, so that there is nothing to end either.
    if (this.#rejected.has(pod.uid)) return false;
    // A pod that is ending needs no admission: its worker only stops what runs.
    if (pod.metadata.deletionTimestamp !== undefined || isTerminalPhase(pod.status.phase)) return true;
    const active = activePods.activePods().filter((other) => admission.isAdmitted(other));
    const result = admission.decide(pod, active);
    if (result.admit === false) {
      this.#reject(pod, result);
      return false;
    }
    if (result.admit === 'afterPreempting') {
      const { ofVictim, ofNode } = preemptDecision(result, pod);
      decisions.node(ofNode);
      for (const victim of active.filter(({ uid }) => result.victims.includes(uid))) {
        events.record(victim, preemptionEvent);
        decisions.pod(victim, ofVictim);
        terminate(victim.uid, { decided: preemptionDecision });
      }
    }
    return true;
  }

  /** Whether the pod was rejected: it never ran, and nothing of it is on this node. */
  isRejected(uid: PodUid): boolean {
    return this.#rejected.has(uid);
  }

  forget(uid: PodUid): void {
    this.#deps.admission.forget(uid);
    this.#rejected.delete(uid);
  }

  /** How many pods are remembered. */
  size(): number {
    return this.#deps.admission.size() + this.#rejected.size;
  }

  #reject(pod: DesiredPod, rejected: Parameters<typeof rejectedStatus>[1]): void {
    this.#rejected.add(pod.uid);
    const { status, event } = rejectedStatus(pod, rejected, this.#deps.clock.now());
    this.#deps.statuses.set(pod.uid, status);
    this.#deps.events.record(pod, event);
  }
}
