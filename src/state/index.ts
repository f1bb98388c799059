export { CheckpointFile, type CheckpointDisk, type CheckpointFileDeps } from './checkpoint-file.ts';
export { type LastRun, type RunMarker } from './last-run.ts';
export { RunMarkerFile, type MarkerDisk, type RunMarkerFileDeps } from './run-marker.ts';
export { formatCheckpoint, parseCheckpoint, type CheckpointReading } from './checkpoint.ts';
