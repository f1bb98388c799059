import { cutText } from '../../base/cut-text.ts';
import type { PodUid } from '../../base/ids.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { AdmissionNode } from './ports.ts';

export interface AdmissionInput {
  readonly pod: DesiredPod;
  /** The pods that already count on this node, without this one. */
  readonly active: readonly DesiredPod[];
  readonly node: AdmissionNode;
}

/**
 *                ┌──> admit: true               run it
 *  asked once ───┼──> admit: 'afterPreempting'  end the victims, then run it
 *                └──> admit: false              it has failed; reason and message go into its status
 */
export type PodAdmitResult = Admitted | AfterPreempting | Rejected;

interface Admitted {
  readonly admit: true;
}

export interface AfterPreempting {
  readonly admit: 'afterPreempting';
  readonly victims: readonly PodUid[];
  /** The first resource there was too little of. */
  readonly shortOf: string;
}

export interface Rejected {
  readonly admit: false;
  readonly reason: string;
  readonly message: string;
}

/** One question about a pod, a pure function. */
export type AdmissionRule = (input: AdmissionInput) => PodAdmitResult;

export const admitted: Admitted = Object.freeze({ admit: true });

/** Both stand in the status of the pod and in an event, and repeat names of its spec. */
const maxReasonBytes = 1_024;
const maxMessageBytes = 4 * 1_024;

export function rejected(reason: string, message: string): Rejected {
  return { admit: false, reason: cutText(reason, maxReasonBytes), message: cutText(message, maxMessageBytes) };
}
