import { systemCriticalPriority } from '../model/qos.ts';

/** Pods that end together: those of at least this priority, and less than that of the next group. */
export interface ShutdownGroup {
  readonly priority: number;
  /** How long they may take at most. */
  readonly seconds: number;
}

/** The configuration of a graceful shutdown, times in nanoseconds. */
export interface ShutdownPeriods {
  readonly whole: bigint;
  readonly critical: bigint;
  readonly byPriority: readonly ShutdownGroup[];
}

const nanosPerSecond = 1_000_000_000n;

/**
 * The groups in the order in which they end, the lowest priority first. Without a list there are two: all other pods,
 * then critical ones. Fractions of a second are cut. No groups: pods are not ended before the machine goes down.
 */
export function computeGroups({ whole, critical, byPriority }: ShutdownPeriods): readonly ShutdownGroup[] {
  if (byPriority.length > 0) return byPriority.toSorted((one, other) => one.priority - other.priority);
  if (whole === 0n || critical > whole) return [];
  const seconds = (nanos: bigint): number => Number(nanos / nanosPerSecond);
  return [
    { priority: 0, seconds: seconds(whole - critical) },
    { priority: systemCriticalPriority, seconds: seconds(critical) },
  ];
}

/** How long the machine has to wait at most. */
export function neededSeconds(groups: readonly ShutdownGroup[]): number {
  return groups.reduce((sum, { seconds }) => sum + seconds, 0);
}

/** The index of the group of a pod: the highest one that is not above it, else the lowest. No priority counts as 0. */
export function groupOf(groups: readonly ShutdownGroup[], priority: number | undefined): number {
  return Math.max(
    0,
    groups.findLastIndex((group) => group.priority <= (priority ?? 0)),
  );
}
