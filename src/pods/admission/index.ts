export { activeDeadlines } from './active-deadlines.ts';
export { activeDeadline, deadlineDecision, deadlineEvent, type ActiveDeadline } from './active-deadline.ts';
export { Admission, type AdmissionDeps } from './admission.ts';
export { admissionChain, judge } from './chain.ts';
export { admissionMessages } from './messages.ts';
export type { AdmissionNode, AppArmorSupport, NodeTaint, RunningPods } from './ports.ts';
export { computePreemption, preemptionDecision, preemptionEvent, type Preemption } from './preemption.ts';
export { rejectedStatus, rejectionLabel, type Rejection } from './rejection.ts';
export { computeShortages, type Shortage } from './shortages.ts';
export {
  admitted,
  refused,
  type AdmissionInput,
  type AdmissionRule,
  type AfterPreempting,
  type Refused,
  type Verdict,
} from './verdict.ts';
export { PodGate, type PodGateDeps } from './pod-gate.ts';
