export { CheckpointFile, type CheckpointDisk } from './checkpoint-file.ts';
export { type LastRun } from './last-run.ts';
export { RunMarkerFile } from './run-marker.ts';
