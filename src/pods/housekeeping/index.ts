export { Housekeeping, type HousekeepingDeps, type StuckPod } from './housekeeping.ts';
