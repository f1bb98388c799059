/** Limits what runs at a time: `max` in all, `maxPerKey` of one key. Work beyond a limit is refused, it does not wait. */
export class ConcurrencyLimit {
  readonly #max: number;
  readonly #maxPerKey: number;
  readonly #inside = new Map<string, number>();
  #all = 0;

  constructor(max: number, maxPerKey: number) {
    this.#max = max;
    this.#maxPerKey = maxPerKey;
  }

  /** How many run. */
  get taken(): number {
    return this.#all;
  }

  /** Undefined at the limit; else call the returned function when the work ends. Calling it twice is harmless. */
  enter(key: string): (() => void) | undefined {
    const here = this.#inside.get(key) ?? 0;
    if (this.#all >= this.#max || here >= this.#maxPerKey) return undefined;
    this.#all++;
    this.#inside.set(key, here + 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#all--;
      const others = (this.#inside.get(key) ?? 1) - 1;
      if (others > 0) this.#inside.set(key, others);
      else this.#inside.delete(key);
    };
  }
}
