import type { Clock } from '../base/clock.ts';

/** For how long a page waits for slow sources; it then shows what was known before. */
const timeoutMs = 2_000;
/** The same where something is known already, and the client may have a short timeout. */
export const shortTimeoutMs = 500;

/** A value that is slow to get, kept for a while and then got again. */
export class RefreshingCache<V> {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #value: V | undefined;
  #dueMs = Number.NEGATIVE_INFINITY;
  #triedMs = Number.NEGATIVE_INFINITY;
  #work: { readonly done: Promise<void>; readonly sinceMs: number } | undefined;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** The last value, however old. */
  get value(): V | undefined {
    return this.#value;
  }

  /** Whether there is nothing to do: the value is known, new enough, and not being renewed. */
  serves(maxAgeMs = Number.POSITIVE_INFINITY): boolean {
    const nowMs = this.#clock.monotonic();
    return this.#work === undefined && nowMs < this.#dueMs && nowMs - this.#triedMs < maxAgeMs;
  }

  /**
   * Gets the value again where it is too old and not being renewed. The promise, if there is anything to wait for, never
   * rejects: errors go to `failed`, and the next try is after half of the time. Pages wait once for work that hangs, not
   * each of them. With `maxAgeMs` the value is too old by then, though it was to be kept for longer.
   */
  renew(
    keepMs: number,
    find: () => Promise<V>,
    failed: (error: unknown) => void,
    maxAgeMs = Number.POSITIVE_INFINITY,
  ): Promise<void> | undefined {
    if (this.serves(maxAgeMs)) return undefined;
    const nowMs = this.#clock.monotonic();
    if (this.#work !== undefined) return nowMs - this.#work.sinceMs < timeoutMs ? this.#work.done : undefined;
    this.#triedMs = nowMs;
    const done = this.#find(keepMs, find, failed).finally(() => (this.#work = undefined));
    this.#work = { done, sinceMs: nowMs };
    return done;
  }

  async #find(keepMs: number, find: () => Promise<V>, failed: (error: unknown) => void): Promise<void> {
    try {
      this.#value = await find();
      this.#dueMs = this.#clock.monotonic() + keepMs;
    } catch (error) {
      this.#dueMs = this.#clock.monotonic() + keepMs / 2;
      failed(error);
    }
  }
}

/** Waits for all, no longer than the limit. What is late goes on. */
export async function waitAtMost(
  clock: Pick<Clock, 'after'>,
  works: readonly (Promise<void> | undefined)[],
  limitMs = timeoutMs,
): Promise<void> {
  const waiting = works.filter(isWork);
  if (waiting.length === 0) return;
  await new Promise<void>((resolve) => {
    const cancel = clock.after(limitMs, resolve);
    void Promise.all(waiting).then(() => {
      cancel();
      resolve();
    });
  });
}

const isWork = (work: Promise<void> | undefined): work is Promise<void> => work !== undefined;
