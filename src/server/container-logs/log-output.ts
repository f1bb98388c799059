/** What is written at a time: enough for a socket to be worth it, little enough to wait for. */
const pieceBytes = 64 * 1024;

/** Filled and copied within one turn of the event loop, never across a wait: one for all readers is enough. */
const scratch = Buffer.allocUnsafeSlow(pieceBytes);

/**
 * Gathers the small parts that lines are made of into pieces for the client, up to a number of bytes. Between two
 * `take`s the caller must not await, since the buffer is shared.
 */
export class LogOutput {
  /** Bytes that may still go out. */
  #left: number;
  #used = 0;
  #pieces: Buffer[] = [];

  constructor(limitBytes = Number.POSITIVE_INFINITY) {
    this.#left = limitBytes;
  }

  /** Everything that may go out has been given. */
  get full(): boolean {
    return this.#left <= 0;
  }

  push(bytes: Buffer, start: number, end: number): void {
    const stop = Math.min(end, start + this.#left);
    this.#left -= Math.max(0, stop - start);
    for (let at = start; at < stop;) {
      const part = Math.min(stop - at, pieceBytes - this.#used);
      bytes.copy(scratch, this.#used, at, at + part);
      this.#used += part;
      at += part;
      if (this.#used === pieceBytes) this.#cut();
    }
  }

  /** What was gathered, now the caller's. */
  take(): readonly Buffer[] {
    if (this.#used > 0) this.#cut();
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  #cut(): void {
    this.#pieces.push(Buffer.from(scratch.subarray(0, this.#used)));
    this.#used = 0;
  }
}
