import type { Clock } from '../base/clock.ts';

/** For how long a page waits for what is dear to find out; it then makes do with what was known before. */
const patienceMs = 2_000;
/** The same where something is known already, and whoever asks may be in a hurry. */
export const momentMs = 500;

/** What is dear to find out, kept for a while. */
export class Kept<V> {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #value: V | undefined;
  #dueMs = Number.NEGATIVE_INFINITY;
  #triedMs = Number.NEGATIVE_INFINITY;
  #work: { readonly done: Promise<void>; readonly sinceMs: number } | undefined;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** What was found out last, however long ago. */
  get value(): V | undefined {
    return this.#value;
  }

  /** Whether there is nothing to do: it is known, new enough, and nobody is at it. */
  serves(maxAgeMs = Number.POSITIVE_INFINITY): boolean {
    const nowMs = this.#clock.monotonic();
    return this.#work === undefined && nowMs < this.#dueMs && nowMs - this.#triedMs < maxAgeMs;
  }

  /**
   * Finds it out anew where it is too old and nobody is at it. The promise, if there is anything worth waiting for, never
   * rejects: what failed is told to `failed` and tried again when half of the time has gone. Work that hangs is waited for
   * once, not by every page. With `maxAgeMs` it is too old by then, though who found it out wanted it for longer.
   */
  renew(
    keepMs: number,
    find: () => Promise<V>,
    failed: (error: unknown) => void,
    maxAgeMs = Number.POSITIVE_INFINITY,
  ): Promise<void> | undefined {
    if (this.serves(maxAgeMs)) return undefined;
    const nowMs = this.#clock.monotonic();
    if (this.#work !== undefined) return nowMs - this.#work.sinceMs < patienceMs ? this.#work.done : undefined;
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

/** Waits for all, as long as patience lasts, or for a shorter time. What is late goes on. */
export async function patiently(
  clock: Pick<Clock, 'after'>,
  works: readonly (Promise<void> | undefined)[],
  limitMs = patienceMs,
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
