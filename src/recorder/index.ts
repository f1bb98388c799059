export { CallsUnderWay, type CallsPage, type CallsUnderWayDeps } from './calls-under-way.ts';
export type { DecisionPage, PodLine, PodPage, ShownDecision } from './decision-pages.ts';
export { FlightRecorder, type FlightRecorderDeps } from './flight-recorder.ts';
