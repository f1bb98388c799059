/**
 * Work that several callers wait for. A call for a key that is under way joins it; a caller that aborts does not disturb
 * the others; when the last one aborts, the work is aborted.
 *
 *   run ──> under way ──> done            all aborted ──> work aborted (the last caller sees how it ended)
 */
export class SharedWork<T> {
  readonly #flights = new Map<string, Flight<T>>();

  get size(): number {
    return this.#flights.size;
  }

  /** `work` must end soon after its signal aborts. */
  run(key: string, work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const flight = this.#flights.get(key) ?? this.#begin(key, work);
    flight.waiting++;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        flight.waiting--;
        if (flight.waiting > 0) {
          reject(signal.reason);
          return;
        }
        // Removed first, so that a new call does not join work that is about to end.
        this.#end(key, flight);
        flight.abort(signal.reason);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      flight.outcome.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
    });
  }

  #begin(key: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController();
    const outcome = this.#fly(
      key,
      () => work(controller.signal),
      () => flight,
    );
    const flight: Flight<T> = { outcome, waiting: 0, abort: (reason) => controller.abort(reason) };
    this.#flights.set(key, flight);
    return flight;
  }

  async #fly(key: string, work: () => Promise<T>, flight: () => Flight<T>): Promise<T> {
    // The first step waits, so that the entry is there before even failing work can remove it.
    await Promise.resolve();
    try {
      return await work();
    } finally {
      this.#end(key, flight());
    }
  }

  #end(key: string, flight: Flight<T>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}

interface Flight<T> {
  readonly outcome: Promise<T>;
  readonly abort: (reason: unknown) => void;
  waiting: number;
}
