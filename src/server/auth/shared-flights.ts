import { linkedSignal, raceAbort, type LinkedSignal } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { TubeletError } from '../../base/errors.ts';

export interface SharedFlightsOptions {
  readonly clock: Pick<Clock, 'after'>;
  /** How long one may take. */
  readonly limitMs: number;
  /** How many may be under way; more are refused. */
  readonly most: number;
}

interface Flight<V> {
  readonly outcome: Promise<V>;
  readonly life: LinkedSignal;
  waiting: number;
}

/**
 * Shares work for one key among those who ask while it goes on. It belongs to none of them: who leaves does not end it
 * for the others, and when the last one has left it is given up.
 */
export class SharedFlights<V> {
  readonly #options: SharedFlightsOptions;
  readonly #flights = new Map<string, Flight<V>>();

  constructor(options: SharedFlightsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#flights.size;
  }

  /** Rejects with kind `exhausted` when too many others are under way, and `timeout` when it takes too long. */
  async run(key: string, work: (signal: AbortSignal) => Promise<V>, signal: AbortSignal): Promise<V> {
    signal.throwIfAborted();
    const flight = this.#flights.get(key) ?? this.#begin(key, work);
    flight.waiting++;
    try {
      return await raceAbort(flight.outcome, signal);
    } finally {
      flight.waiting--;
      if (flight.waiting === 0) this.#end(key, flight);
    }
  }

  #begin(key: string, work: (signal: AbortSignal) => Promise<V>): Flight<V> {
    const { clock, limitMs, most } = this.#options;
    if (this.#flights.size >= most) throw new TubeletError('exhausted', `${most} other reviews are under way`);
    const life = linkedSignal(undefined, { clock, ms: limitMs });
    const outcome = raceAbort(work(life.signal), life.signal);
    const flight: Flight<V> = { outcome, life, waiting: 0 };
    this.#flights.set(key, flight);
    return flight;
  }

  /** Everybody has the outcome or has gone, and nobody can join any more; whoever asks next begins anew. */
  #end(key: string, flight: Flight<V>): void {
    this.#flights.delete(key);
    flight.life.abort(new TubeletError('cancelled', 'nobody waits for the review any more'));
  }
}
