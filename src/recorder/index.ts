export { CallsUnderWay } from './calls-under-way.ts';
export type { PodPage, ShownDecision } from './decision-pages.ts';
export { FlightRecorder } from './flight-recorder.ts';
