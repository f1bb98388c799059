/**
 * The names that sort last among any number of them, without keeping more than twice as many. For folders that other
 * programs may fill, where the last names are the newest.
 */
export class LastNames {
  readonly #max: number;
  #names: string[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  add(name: string): void {
    this.#names.push(name);
    if (this.#names.length >= 2 * this.#max) this.#cut();
  }

  /** In order. */
  all(): readonly string[] {
    this.#cut();
    return this.#names;
  }

  #cut(): void {
    this.#names.sort();
    this.#names.splice(0, Math.max(0, this.#names.length - this.#max));
  }
}
