import assert from 'node:assert/strict';
import type { ApiWatcher, WatchEvent, WatchRequest } from '../../apiserver/index.ts';
import type { Clock } from '../../base/clock.ts';
import { raceAbort, withTimeout } from '../../base/abort.ts';
import type { ApiObject } from '../../model/api-client.ts';
import type { ApiResource } from '../../model/api-resources.ts';

export type TapRequest = Omit<WatchRequest, 'signal'>;

const patienceMs = 30_000;

/** A watch whose events are gathered as they come. */
export class WatchTap<T extends ApiObject> {
  readonly events: WatchEvent<T>[] = [];
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  #over: Promise<void> = Promise.resolve();
  #wake: () => void = () => {};

  private constructor(clock: Clock) {
    this.#clock = clock;
  }

  static async open<T extends ApiObject>(
    api: ApiWatcher,
    clock: Clock,
    resource: ApiResource,
    request: TapRequest,
  ): Promise<WatchTap<T>> {
    const tap = new WatchTap<T>(clock);
    const batches = await api.watch<T>(resource, { ...request, signal: tap.#stop.signal });
    tap.#over = tap.#gather(batches);
    // Who waits for the end is told; a test that ends before is not interested.
    tap.#over.catch(() => {});
    return tap;
  }

  /** `ADDED name`, without bookmarks. */
  get told(): readonly string[] {
    return this.events
      .filter(({ type }) => type !== 'BOOKMARK')
      .map(({ type, object }) => `${type} ${type === 'ERROR' ? '' : (object.metadata?.name ?? '')}`);
  }

  /** Waits until so many events have come that are no bookmarks. */
  async gather(count: number): Promise<readonly WatchEvent<T>[]> {
    const real = (): readonly WatchEvent<T>[] => this.events.filter(({ type }) => type !== 'BOOKMARK');
    await withTimeout(this.#clock, patienceMs, async (signal) => {
      while (real().length < count) {
        await raceAbort(new Promise<void>((resolve) => (this.#wake = resolve)), signal);
      }
    }).catch((cause: unknown) => {
      throw new Error(`${real().length} of ${count} events came: ${this.told.join(', ')}`, { cause });
    });
    assert.equal(real().length, count);
    return real();
  }

  /** Waits until the server ends it. */
  async ended(): Promise<void> {
    await withTimeout(this.#clock, patienceMs, (signal) => raceAbort(this.#over, signal));
  }

  close(): void {
    this.#stop.abort();
  }

  async #gather(batches: AsyncIterable<readonly WatchEvent<T>[]>): Promise<void> {
    for await (const batch of batches) {
      this.events.push(...batch);
      this.#wake();
    }
  }
}
