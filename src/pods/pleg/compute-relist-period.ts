/**
 * How often the runtime is listed although events report what happens. The relist is an audit of the stream: as long as
 * it finds no change that the stream missed, the period doubles; a missed change brings it back to the minimum.
 *
 *            nothing missed: doubled, up to the maximum
 *              ┌──────────┐
 *    minimum ──┴─> longer ┘      missed ──> minimum and suspect ──an event comes──> minimum, doubled again
 *      ^              │
 *      └─ stream down ┘
 */
export interface RelistPace {
  readonly periodMs: number;
  /** The stream missed something and has sent no event since: it may be open without working. */
  readonly suspect: boolean;
}

/** What one relist showed of the stream. */
export interface RelistOutcome {
  /** The stream has been up since before the relist before this one: it should have reported every change of this one. */
  readonly covered: boolean;
  /** It sent an event since the last relist. */
  readonly hadEvents: boolean;
  /** The relist found a change that it had not reported. */
  readonly missed: boolean;
}

export interface RelistBounds {
  readonly minMs: number;
  readonly maxMs: number;
}

/** The pace after a relist. Without a stream that covers everything the period is the minimum. */
export function computeRelistPeriod(pace: RelistPace, outcome: RelistOutcome, bounds: RelistBounds): RelistPace {
  const { covered, hadEvents, missed } = outcome;
  const suspect = (covered && missed) || (pace.suspect && !hadEvents);
  const relaxed = Math.min(2 * pace.periodMs, bounds.maxMs);
  return { periodMs: covered && !suspect ? relaxed : bounds.minMs, suspect };
}
