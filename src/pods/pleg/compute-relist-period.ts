/**
 * How often the runtime is listed although events tell what happens. The relist is an audit of the stream: as long as it
 * finds nothing that the stream had not told, it comes less and less often; what it finds makes it strict again.
 *
 *            quiet: doubled, up to the longest
 *              ┌──────────┐
 *   shortest ──┴─> longer ┘      missed ──> shortest and doubted ──the stream tells something──> shortest, doubled again
 *      ^              │
 *      └─ stream down ┘
 */
export interface RelistPace {
  readonly periodMs: number;
  /** The stream missed something and has not been heard of since: it may be open and deaf. */
  readonly doubted: boolean;
}

/** What one relist showed of the stream. */
export interface RelistOutcome {
  /** The stream has been up since before the relist before this one: whatever this one finds, it should have told. */
  readonly covered: boolean;
  /** It told something since the last relist. */
  readonly told: boolean;
  /** The relist found a change that it had not told. */
  readonly missed: boolean;
}

export interface RelistBounds {
  readonly shortestMs: number;
  readonly longestMs: number;
}

/** The pace after a relist. Without a stream that covers everything it is the shortest. */
export function computeRelistPeriod(pace: RelistPace, outcome: RelistOutcome, bounds: RelistBounds): RelistPace {
  const { covered, told, missed } = outcome;
  const doubted = (covered && missed) || (pace.doubted && !told);
  const relaxed = Math.min(2 * pace.periodMs, bounds.longestMs);
  return { periodMs: covered && !doubted ? relaxed : bounds.shortestMs, doubted };
}
