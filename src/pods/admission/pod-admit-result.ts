import { cutText } from '../../base/cut-text.ts';
import type { PodUid } from '../../base/ids.ts';
import type { AdmissionNode } from '../../model/admission-node.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';

export interface AdmissionInput {
  readonly pod: DesiredPod;
  /** The other active pods of this node. */
  readonly active: readonly DesiredPod[];
  readonly node: AdmissionNode;
}

/**
 *                ┌──> admit: true               run it
 *  decided once ─┼──> admit: 'afterPreempting'  end the victims, then run it
 *                └──> admit: false              rejected; reason and message go into its status
 */
export type PodAdmitResult = Admitted | AfterPreempting | Rejected;

interface Admitted {
  readonly admit: true;
}

export interface AfterPreempting {
  readonly admit: 'afterPreempting';
  readonly victims: readonly PodUid[];
  /** The first resource that is short. */
  readonly shortOf: string;
}

export interface Rejected {
  readonly admit: false;
  readonly reason: string;
  readonly message: string;
}

/** One check of a pod, a pure function. */
export type AdmissionRule = (input: AdmissionInput) => PodAdmitResult;

export const admitted: Admitted = Object.freeze({ admit: true });

/** Both go into the pod's status and into an event, and may repeat long names of its spec. */
const maxReasonBytes = 1_024;
const maxMessageBytes = 4 * 1_024;

export function rejected(reason: string, message: string): Rejected {
  return { admit: false, reason: cutText(reason, maxReasonBytes), message: cutText(message, maxMessageBytes) };
}
