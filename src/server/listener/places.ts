/** Counts who is inside: so many in all, so many for each key. Nobody waits; who finds no room is told so. */
export class Places {
  readonly #most: number;
  readonly #mostPerKey: number;
  readonly #inside = new Map<string, number>();
  #all = 0;

  constructor(most: number, mostPerKey: number) {
    this.#most = most;
    this.#mostPerKey = mostPerKey;
  }

  /** How many are inside. */
  get taken(): number {
    return this.#all;
  }

  /** Nothing when there is no room; otherwise call what is returned when leaving. Twice is harmless. */
  enter(key: string): (() => void) | undefined {
    const here = this.#inside.get(key) ?? 0;
    if (this.#all >= this.#most || here >= this.#mostPerKey) return undefined;
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
