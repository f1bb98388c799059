import type { Decision } from '../../model/decisions.ts';
import type { NamespacedName } from '../../model/pod-reference.ts';
import { podReasons } from '../../model/reasons.ts';
import { preemptionDecision } from './preemption.ts';
import type { AfterPreempting, PodAdmitResult } from './pod-admit-result.ts';

interface AdmissionFacts {
  /** An earlier run of the agent admitted the pod. */
  readonly wasAdmitted: boolean;
  /** How many pods were counted beside it. */
  readonly activePods: number;
}

/** An admit result as the flight recorder keeps it. */
export function admissionDecision(result: PodAdmitResult, { wasAdmitted, activePods }: AdmissionFacts): Decision {
  const common = { by: 'admission', inputs: { activePods } } as const;
  if (result.admit === false) return { ...common, kind: 'reject', reason: result.reason, message: result.message };
  if (result.admit === 'afterPreempting') {
    const { victims, shortOf } = result;
    const message = `it is admitted after the preemption of ${victims.length} pods`;
    const inputs = { ...common.inputs, shortOf, victims };
    return { ...common, kind: 'admit', reason: 'AfterPreempting', message, inputs };
  }
  return wasAdmitted
    ? { ...common, kind: 'admit', reason: 'AlreadyAdmitted', message: 'it was admitted before the agent started' }
    : { ...common, kind: 'admit', reason: 'Admitted', message: 'it may run on this node' };
}

/** The preemption of a pod, for its own record and, with all victims, for the node's. */
export function preemptDecision(
  { shortOf, victims }: AfterPreempting,
  { namespace, name }: NamespacedName,
): { readonly ofVictim: Decision; readonly ofNode: Decision } {
  const common = { kind: 'preempt', by: 'admission', reason: podReasons.preempting } as const;
  const criticalPod = `${namespace}/${name}`;
  return {
    ofVictim: { ...common, message: preemptionDecision.message, inputs: { criticalPod, shortOf } },
    ofNode: {
      ...common,
      message: `pods are preempted for the critical pod ${criticalPod}`,
      inputs: { criticalPod, shortOf, victims },
    },
  };
}
