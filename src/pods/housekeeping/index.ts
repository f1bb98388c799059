export { Housekeeping, type HousekeepingDeps } from './housekeeping.ts';
