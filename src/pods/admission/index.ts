export { activeDeadlines } from './active-deadlines.ts';
export { Admission } from './admission.ts';
export type { AdmissionNode } from './ports.ts';
export { PodGate } from './pod-gate.ts';
