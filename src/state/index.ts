export { CheckpointFile, type CheckpointDisk, type CheckpointFileDeps } from './checkpoint-file.ts';
export { formatCheckpoint, parseCheckpoint, type CheckpointReading } from './checkpoint.ts';
