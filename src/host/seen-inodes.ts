/** So many files with several names are recorded one by one; enough for every tree of normal use. */
const defaultMaxKnown = 100_000;

/**
 * Counts files that have several names once, without growing with them: a program that makes millions of such files
 * must not fill the memory. Beyond that number each name counts for its part of the file, which gives the same sum as
 * long as all of its names are in the tree.
 */
export class SeenInodes {
  readonly #known = new Set<number>();
  readonly #maxKnown: number;

  constructor(maxKnown = defaultMaxKnown) {
    this.#maxKnown = maxKnown;
  }

  /** The part of the file that this name counts for. */
  share(inode: number, names: number): number {
    if (this.#known.has(inode)) return 0;
    if (this.#known.size >= this.#maxKnown) return 1 / names;
    this.#known.add(inode);
    return 1;
  }
}
