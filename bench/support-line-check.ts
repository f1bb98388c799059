const newline = 0x0a;
const digits = 8;
const zero = 0x30;

/** Reads numbered lines as they come, in pieces of any size, and finds the first that is not the one to come next. */
export class LineCheck {
  readonly #lines: number;
  #next = 0;
  /** Where in the present line the reading stands, and what number its first digits have made so far. */
  #at = 0;
  #number = 0;
  connected = false;
  bytes = 0;
  fault: string | undefined;

  constructor(lines: number) {
    this.#lines = lines;
  }

  get isWhole(): boolean {
    if (this.fault === undefined && this.#next !== this.#lines) this.fault = `ended before line ${this.#next}`;
    return this.fault === undefined;
  }

  take(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.fault !== undefined) return;
    for (let index = 0; index < chunk.length; index++) {
      if (this.#at < digits) {
        this.#number = this.#number * 10 + (chunk[index] ?? 0) - zero;
        this.#at++;
        continue;
      }
      index = chunk.indexOf(newline, index);
      if (index < 0) return;
      if (this.#number !== this.#next) this.fault ??= `line ${this.#number} instead of ${this.#next}`;
      this.#next++;
      [this.#at, this.#number] = [0, 0];
    }
  }
}
