/** The last reading of one cgroup. */
interface CpuReading {
  atMs: number;
  totalNs: number;
  nanoCores: number;
  /** The last round that read the cgroup. */
  round: number;
}

/** Readings nearer to one another than this give no useful rate. */
const minRateMs = 100;

/**
 * How much of the processors is used now, from two readings of what was used ever. One round reads every cgroup once; what
 * a round did not read is forgotten with it.
 */
export class CpuRates {
  readonly #readings = new Map<string, CpuReading>();
  #round = 0;
  #roundAtMs: number | undefined;

  /** When the last round ended, on the monotonic clock. */
  get roundAtMs(): number | undefined {
    return this.#roundAtMs;
  }

  begin(): void {
    this.#round++;
  }

  end(atMs: number): void {
    for (const [path, { round }] of this.#readings) if (round !== this.#round) this.#readings.delete(path);
    this.#roundAtMs = atMs;
  }

  /**
   * Takes a reading; answers billionths of a processor. A cgroup that was not there in the last round has used all it
   * used since it was made, `ageMs` ago; where that is unknown too it is 0, until the next round.
   */
  take(path: string, totalNs: number, atMs: number, ageMs: number | undefined): number {
    const known = this.#readings.get(path);
    // Less than before: another cgroup of the same path.
    if (known === undefined || totalNs < known.totalNs) {
      const isKnownAge = ageMs !== undefined && ageMs >= minRateMs;
      const rate = isKnownAge ? nanoCores(totalNs, ageMs) : 0;
      this.#readings.set(path, { atMs, totalNs, nanoCores: rate, round: this.#round });
      return rate;
    }
    known.round = this.#round;
    if (atMs - known.atMs < minRateMs) return known.nanoCores;
    known.nanoCores = nanoCores(totalNs - known.totalNs, atMs - known.atMs);
    known.atMs = atMs;
    known.totalNs = totalNs;
    return known.nanoCores;
  }
}

const nanoCores = (usedNs: number, inMs: number): number => Math.round((usedNs / inMs) * 1_000);
