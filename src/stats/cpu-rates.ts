interface Reading {
  readonly atMs: number;
  readonly totalNs: number;
  readonly nanoCores: number;
}

/** Readings nearer to one another than this say little about a rate. */
const leastMs = 100;

/**
 * How much of the processors is used now, from two readings of what was used ever. One round reads every cgroup once; what
 * a round did not read is forgotten with it.
 */
export class CpuRates {
  #last: ReadonlyMap<string, Reading> = new Map();
  #round = new Map<string, Reading>();
  #roundAtMs: number | undefined;

  /** When the last round ended, on the monotonic clock. */
  get roundAtMs(): number | undefined {
    return this.#roundAtMs;
  }

  begin(): void {
    this.#round = new Map();
  }

  end(atMs: number): void {
    this.#last = this.#round;
    this.#roundAtMs = atMs;
  }

  /**
   * Takes a reading; answers billionths of a processor. A cgroup that was not there in the last round has used all it
   * used since it was made, `ageMs` ago; where nobody knows that either it is 0, until the next round.
   */
  take(path: string, totalNs: number, atMs: number, ageMs: number | undefined): number {
    const before = this.#last.get(path);
    const reading = this.#reading(before, totalNs, atMs, ageMs);
    this.#round.set(path, reading);
    return reading.nanoCores;
  }

  #reading(before: Reading | undefined, totalNs: number, atMs: number, ageMs: number | undefined): Reading {
    // Less than before: another cgroup of the same path.
    if (before === undefined || totalNs < before.totalNs) {
      const isTelling = ageMs !== undefined && ageMs >= leastMs;
      return { atMs, totalNs, nanoCores: isTelling ? nanoCores(totalNs, ageMs) : 0 };
    }
    if (atMs - before.atMs < leastMs) return before;
    return { atMs, totalNs, nanoCores: nanoCores(totalNs - before.totalNs, atMs - before.atMs) };
  }
}

const nanoCores = (usedNs: number, inMs: number): number => Math.round((usedNs / inMs) * 1_000);
