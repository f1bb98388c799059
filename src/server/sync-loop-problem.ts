export interface SyncLoopTimes {
  /** Since the loop last came round, or since the agent started where it has not yet. */
  readonly idleMs: number;
  /** syncFrequency. */
  readonly syncPeriodMs: number;
}

/** A loop that has not come round for less than this is not stuck, however often it should. */
const minStuckMs = 5 * 60_000;

/** Why the sync loop counts as stuck; nothing while it does not. */
export function syncLoopProblem({ idleMs, syncPeriodMs }: SyncLoopTimes): string | undefined {
  const isStuck = idleMs > Math.max(2 * syncPeriodMs, minStuckMs);
  return isStuck ? `no round for ${Math.round(idleMs / 1_000)} s` : undefined;
}
