import { InvariantError } from './errors.ts';

/**
 * Work that is due, marked by the components that cause it and done by one component, the taker. It exists before the
 * taker does: a mark that comes earlier is kept until `takenBy`.
 *
 *   idle ──mark──> due ──take by──> idle        taken ──mark──> the taker is called at once
 */
export class Due {
  #isDue = false;
  #taker: (() => void) | undefined;

  mark(): void {
    if (this.#taker === undefined) this.#isDue = true;
    else this.#taker();
  }

  /** From now on `taker` is called for each mark. There is one taker. */
  takenBy(taker: () => void): void {
    if (this.#taker !== undefined) throw new InvariantError('the work that is due has a taker already');
    this.#taker = taker;
    if (!this.#isDue) return;
    this.#isDue = false;
    taker();
  }
}
