/**
 * Shares calls that are under way: a caller with a key that is being worked on gets the outcome of that work. Nothing is
 * kept after it; the next call works anew.
 */
export class SingleFlight<K, V> {
  readonly #flights = new Map<K, Promise<V>>();

  get size(): number {
    return this.#flights.size;
  }

  run(key: K, work: () => Promise<V>): Promise<V> {
    const present = this.#flights.get(key);
    if (present !== undefined) return present;
    const flight = this.#fly(key, work);
    this.#flights.set(key, flight);
    return flight;
  }

  async #fly(key: K, work: () => Promise<V>): Promise<V> {
    // The first step waits, so that the entry is there before even a failing call can remove it.
    await Promise.resolve();
    try {
      return await work();
    } finally {
      this.#flights.delete(key);
    }
  }
}
