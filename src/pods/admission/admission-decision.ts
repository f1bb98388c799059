import type { Decision } from '../../model/decisions.ts';
import type { NamespacedName } from '../../model/pod-reference.ts';
import { podReasons } from '../../model/reasons.ts';
import { preemptionDecision } from './preemption.ts';
import type { AfterPreempting, PodAdmitResult } from './pod-admit-result.ts';

interface AdmissionFacts {
  /** What the pod counts as was settled by an earlier run of the agent. */
  readonly wasAdmitted: boolean;
  /** How many pods were counted beside it. */
  readonly activePods: number;
}

/** A result as the record has it. */
export function admissionDecision(result: PodAdmitResult, { wasAdmitted, activePods }: AdmissionFacts): Decision {
  const common = { by: 'admission', inputs: { activePods } } as const;
  if (result.admit === false) return { ...common, kind: 'reject', reason: result.reason, message: result.message };
  if (result.admit === 'afterPreempting') {
    const { victims, shortOf } = result;
    const message = `it may run here once ${victims.length} other pods have given way`;
    const inputs = { ...common.inputs, shortOf, victims };
    return { ...common, kind: 'admit', reason: 'AfterPreempting', message, inputs };
  }
  return wasAdmitted
    ? { ...common, kind: 'admit', reason: 'AlreadyAdmitted', message: 'it was admitted before the agent started' }
    : { ...common, kind: 'admit', reason: 'Admitted', message: 'it may run on this node' };
}

/** That a pod gives way, for the victim's record and, with all who do, for the node's. */
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
      message: `pods give way to the critical pod ${criticalPod}`,
      inputs: { criticalPod, shortOf, victims },
    },
  };
}
