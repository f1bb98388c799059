import { linkedSignal, raceAbort, type LinkedSignal } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { TubeletError } from '../../base/errors.ts';

interface SharedFlightsOptions {
  readonly clock: Pick<Clock, 'after'>;
  /** How long one may take. */
  readonly limitMs: number;
  /** How many may be under way; more are refused. */
  readonly max: number;
  /** How many of them one owner may have begun; no limit of its own by default. */
  readonly maxPerOwner?: number;
}

interface Flight<V> {
  readonly outcome: Promise<V>;
  readonly life: LinkedSignal;
  /** Who began it. */
  readonly owner: string;
  waiting: number;
}

/**
 * Shares work for one key among the callers that ask while it goes on. It belongs to none of them: a caller that leaves does not
 * end it for the others, and when the last one has left it is aborted.
 */
export class SharedFlights<V> {
  readonly #options: SharedFlightsOptions;
  readonly #flights = new Map<string, Flight<V>>();
  readonly #ofOwner = new Map<string, number>();

  constructor(options: SharedFlightsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#flights.size;
  }

  /**
   * Rejects with kind `exhausted` when too many others are under way, in all or of this owner, and `timeout` when it takes
   * too long. Joining what others have begun is not counted.
   */
  async run(key: string, work: (signal: AbortSignal) => Promise<V>, signal: AbortSignal, owner = ''): Promise<V> {
    signal.throwIfAborted();
    const flight = this.#flights.get(key) ?? this.#begin(key, work, owner);
    flight.waiting++;
    try {
      return await raceAbort(flight.outcome, signal);
    } finally {
      flight.waiting--;
      if (flight.waiting === 0) this.#end(key, flight);
    }
  }

  #begin(key: string, work: (signal: AbortSignal) => Promise<V>, owner: string): Flight<V> {
    const { clock, limitMs, max, maxPerOwner = max } = this.#options;
    const ofOwner = this.#ofOwner.get(owner) ?? 0;
    if (this.#flights.size >= max) throw new TubeletError('exhausted', `${max} other reviews are under way`);
    if (ofOwner >= maxPerOwner)
      throw new TubeletError('exhausted', `${maxPerOwner} other reviews for ${owner} are under way`);
    const life = linkedSignal(undefined, { clock, ms: limitMs });
    const outcome = raceAbort(work(life.signal), life.signal);
    const flight: Flight<V> = { outcome, life, owner, waiting: 0 };
    this.#ofOwner.set(owner, ofOwner + 1);
    this.#flights.set(key, flight);
    return flight;
  }

  /** Every caller has the outcome or has left, and none can join any more; the next one begins anew. */
  #end(key: string, flight: Flight<V>): void {
    this.#flights.delete(key);
    const left = (this.#ofOwner.get(flight.owner) ?? 1) - 1;
    if (left > 0) this.#ofOwner.set(flight.owner, left);
    else this.#ofOwner.delete(flight.owner);
    flight.life.abort(new TubeletError('cancelled', 'no request waits for the review any more'));
  }
}
