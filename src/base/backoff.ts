import type { Clock } from './clock.ts';

export interface BackoffLimits {
  readonly initialMs: number;
  readonly maxMs: number;
}

/** What is remembered of one key. Times are wall times in milliseconds. */
export interface BackoffEntry {
  readonly delayMs: number;
  readonly updatedAt: number;
}

/** The times with which containers restart and images are pulled again. */
export const defaultBackoffLimits: BackoffLimits = { initialMs: 10_000, maxMs: 300_000 };

/** A key is forgotten when nothing happened to it for twice the longest delay: it ran well for that long. */
function isExpired(entry: BackoffEntry, atMs: number, limits: BackoffLimits): boolean {
  return atMs - entry.updatedAt > 2 * limits.maxMs;
}

/** The entry after one more event. */
export function nextEntry(
  entry: BackoffEntry | undefined,
  eventTimeMs: number,
  nowMs: number,
  limits: BackoffLimits,
): BackoffEntry {
  const fresh = entry === undefined || isExpired(entry, eventTimeMs, limits);
  const delayMs = fresh ? limits.initialMs : Math.min(entry.delayMs * 2, limits.maxMs);
  return { delayMs, updatedAt: nowMs };
}

/** How long to wait still when the delay counts from an event; 0 when the wait is over. */
export function remaining(
  entry: BackoffEntry | undefined,
  eventTimeMs: number,
  nowMs: number,
  limits: BackoffLimits,
): number {
  if (entry === undefined || isExpired(entry, eventTimeMs, limits)) return 0;
  // A wall clock that was set back must not make the caller wait longer than the delay.
  return Math.min(Math.max(0, entry.delayMs - (nowMs - eventTimeMs)), entry.delayMs);
}

/**
 * Exponential back-off per key. For a container the event is its last exit: `remainingMs` counts from its finish, and
 * `next` is called when it is started again. Where the event is the attempt itself, as with image pulls, the delay
 * counts from the last `next`: `remainingSinceUpdateMs`.
 */
export class Backoff {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #limits: BackoffLimits;
  readonly #entries = new Map<string, BackoffEntry>();
  /** The event last asked about, by key, with its time on the monotonic clock, which cannot be set. */
  readonly #events = new Map<string, { readonly wallMs: number; readonly monotonicMs: number }>();

  constructor(options: { readonly clock: Pick<Clock, 'now' | 'monotonic'> } & Partial<BackoffLimits>) {
    this.#clock = options.clock;
    this.#limits = {
      initialMs: options.initialMs ?? defaultBackoffLimits.initialMs,
      maxMs: options.maxMs ?? defaultBackoffLimits.maxMs,
    };
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The present delay of a key, 0 for one that never failed. */
  get(key: string): number {
    return this.#entries.get(key)?.delayMs ?? 0;
  }

  next(key: string, eventTimeMs: number): void {
    this.#entries.set(key, nextEntry(this.#entries.get(key), eventTimeMs, this.#clock.now(), this.#limits));
  }

  remainingMs(key: string, eventTimeMs: number): number {
    const entry = this.#entries.get(key);
    if (entry === undefined) return 0;
    const rest = remaining(entry, eventTimeMs, eventTimeMs + this.#sinceMs(key, eventTimeMs), this.#limits);
    // Less than a millisecond is a rounding error, and a wait of no time.
    return rest < 1 ? 0 : rest;
  }

  isInBackoffSince(key: string, eventTimeMs: number): boolean {
    return this.remainingMs(key, eventTimeMs) > 0;
  }

  remainingSinceUpdateMs(key: string): number {
    const entry = this.#entries.get(key);
    return entry === undefined ? 0 : this.remainingMs(key, entry.updatedAt);
  }

  reset(key: string): void {
    this.#entries.delete(key);
    this.#events.delete(key);
  }

  /** Forgets the keys nothing happened to for long. */
  gc(): void {
    const now = this.#clock.now();
    for (const [key, entry] of this.#entries) if (isExpired(entry, now, this.#limits)) this.reset(key);
  }

  /** How long ago an event was. Measured from the first question about it on: a wait must end, wherever the wall is set. */
  #sinceMs(key: string, eventTimeMs: number): number {
    const now = this.#clock.monotonic();
    const known = this.#events.get(key);
    if (known?.wallMs === eventTimeMs) return now - known.monotonicMs;
    const sinceMs = Math.max(0, this.#clock.now() - eventTimeMs);
    this.#events.set(key, { wallMs: eventTimeMs, monotonicMs: now - sinceMs });
    return sinceMs;
  }
}
