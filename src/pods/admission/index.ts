export { activeDeadlines } from './active-deadlines.ts';
export { Admission } from './admission.ts';
export { PodGate } from './pod-gate.ts';
