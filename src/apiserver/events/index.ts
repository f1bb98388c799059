export { EventRecorder } from './event-recorder.ts';
