/** How a log grows, as far as looks at its size tell. */
export interface Growth {
  readonly size: number;
  /** Monotonic time of the look. */
  readonly at: number;
  /** Bytes per millisecond it is expected to grow by. */
  readonly rate: number;
  /** It was larger than at the look before. */
  readonly grew: boolean;
}

type NextCheck =
  /** It is quiet: the first write tells, and the round of all logs stands behind that. Not before `restMs`. */
  { readonly kind: 'atWrite'; readonly restMs: number } | { readonly kind: 'soon'; readonly ms: number };

/** No log is looked at more often. */
export const minCheckMs = 10;
/** A log may grow this many times faster than it just did, and is still caught in time. */
const safetyFactor = 2;
/** A log that is written to at all may begin to grow this fast at any moment: 64 MiB in a second. */
const maxRate = (64 * 1024 * 1024) / 1_000;
/** Below this a limit is smaller than a few lines, and looking more often would not keep it. */
const minLimit = 64 * 1024;
/** A file that reports changes all the time without growing is not looked at more often than this. */
const maxRestMs = 100;

/** What another look adds to what is known. Haste is forgotten by halves: a log that pauses may only be drawing breath. */
export function measureGrowth(before: Growth | undefined, size: number, at: number): Growth {
  if (before === undefined) return { size, at, rate: 0, grew: size > 0 };
  const grown = Math.max(0, size - before.size);
  const rate = Math.max(grown / Math.max(1, at - before.at), before.rate / 2);
  return { size, at, rate, grew: grown > 0 };
}

/** The log begins anew in an empty file, and nothing says that it has become slower. */
export function growthAfterRotation(before: Growth, at: number): Growth {
  return { size: 0, at, rate: before.rate, grew: true };
}

/**
 * When to look again, so that the log is found between its limit and twice that. Whichever comes first: it reaches the
 * limit at its present rate; it reaches twice the limit at a multiple of that rate; it reaches twice the limit having
 * suddenly become as fast as logs get.
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
