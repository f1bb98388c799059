/** Something that is due at a time, in the order in which it will come due. */
export interface DueEntry<T> {
  readonly due: number;
  readonly value: T;
}

interface OrderedEntry<T> extends DueEntry<T> {
  readonly order: number;
}

/**
 * Values sorted by due time, first in first out within one instant. A sorted array: the lists here hold hundreds of
 * entries, and moving those is cheaper than the bookkeeping of a heap that can also remove from its middle.
 */
export class DueList<T> {
  readonly #entries: OrderedEntry<T>[] = [];
  #nextOrder = 0;

  get size(): number {
    return this.#entries.length;
  }

  first(): DueEntry<T> | undefined {
    return this.#entries[0];
  }

  insert(due: number, value: T): DueEntry<T> {
    const entry = { due, value, order: this.#nextOrder++ };
    this.#entries.splice(this.#position(due, entry.order), 0, entry);
    return entry;
  }

  /** Removes an entry; returns whether it was there. */
  remove(entry: DueEntry<T>): boolean {
    const { due, order } = entry as OrderedEntry<T>;
    const at = this.#position(due, order);
    if (this.#entries[at] !== entry) return false;
    this.#entries.splice(at, 1);
    return true;
  }

  /** The index of the first entry that does not come before (due, order). */
  #position(due: number, order: number): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = this.#entries[middle];
      if (at !== undefined && (at.due < due || (at.due === due && at.order < order))) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
