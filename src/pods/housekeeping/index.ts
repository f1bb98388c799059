export { Housekeeping, type StuckPod } from './housekeeping.ts';
