export type { Happening } from './correlate.ts';
export { EventRecorder, type EventRecorderDeps } from './event-recorder.ts';
