/** How a log grows, by the sizes that were measured. */
export interface Growth {
  readonly size: number;
  /** Monotonic time of the measurement. */
  readonly at: number;
  /** Bytes per millisecond it is expected to grow by. */
  readonly rate: number;
  /** It was larger than at the measurement before. */
  readonly grew: boolean;
}

type NextCheck =
  /** It is quiet: the first write is watched for, and the round of all logs covers a missed one. Not before `restMs`. */
  { readonly kind: 'atWrite'; readonly restMs: number } | { readonly kind: 'soon'; readonly ms: number };

/** No log is measured more often. */
export const minCheckMs = 10;
/** A log may grow this many times faster than it just did, and is still caught in time. */
const safetyFactor = 2;
/** A log that is written to at all may begin to grow this fast at any moment: 64 MiB in a second. */
const maxRate = (64 * 1024 * 1024) / 1_000;
/** Smaller limits hold a few lines only, and checking more often would not enforce them. */
const minLimit = 64 * 1024;
/** A file that reports changes all the time without growing is not measured more often than this. */
const maxRestMs = 100;

/** Growth after another measurement. The rate falls by half at most, because a log that pauses may go on as fast. */
export function measureGrowth(before: Growth | undefined, size: number, at: number): Growth {
  if (before === undefined) return { size, at, rate: 0, grew: size > 0 };
  const grown = Math.max(0, size - before.size);
  const rate = Math.max(grown / Math.max(1, at - before.at), before.rate / 2);
  return { size, at, rate, grew: grown > 0 };
}

/** The log begins anew in an empty file, at the same rate. */
export function growthAfterRotation(before: Growth, at: number): Growth {
  return { size: 0, at, rate: before.rate, grew: true };
}

/**
 * When to measure again, so that the log is found between its limit and twice that. Whichever comes first: it reaches the
 * limit at its present rate; it reaches twice the limit at a multiple of that rate; it reaches twice the limit at the
 * maximum rate.
 */
export function computeNextCheck({ size, rate, grew }: Growth, maxSize: number, intervalMs: number): NextCheck {
  const limit = Math.max(maxSize, minLimit);
  const room = Math.max(0, 2 * limit - size);
  const toDouble = rate > 0 ? room / (safetyFactor * rate) : Number.POSITIVE_INFINITY;
  const toDoubleAtMaxRate = room / maxRate;
  if (!grew && toDouble >= intervalMs) {
    return { kind: 'atWrite', restMs: Math.max(minCheckMs, Math.min(toDoubleAtMaxRate, maxRestMs)) };
  }
  const toLimit = rate > 0 ? (limit - size) / rate : Number.POSITIVE_INFINITY;
  const wanted = Math.min(toLimit, toDouble, toDoubleAtMaxRate, intervalMs);
  return { kind: 'soon', ms: Math.max(minCheckMs, wanted) };
}
