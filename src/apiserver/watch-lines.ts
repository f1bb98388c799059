import { TubeletError } from '../base/errors.ts';

const lineFeed = 0x0a;
/** A stored object has at most 1.5 MiB, and as JSON six times as much. */
const defaultMaxBytes = 16 * 1024 * 1024;

/**
 * Cuts pieces as they arrive into lines. An unfinished line is kept as the pieces it came in and copied once, so that
 * a long line in many pieces costs its length and not the square of it. A line may end within a character of UTF-8 only
 * by being cut off, and then it is never returned.
 */
export class LineSplitter {
  readonly #maxBytes: number;
  #pieces: Uint8Array[] = [];
  #size = 0;

  constructor(maxBytes: number = defaultMaxBytes) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes of the unfinished line. */
  get pending(): number {
    return this.#size;
  }

  /** The lines that end in this piece, without their ends. */
  push(piece: Uint8Array): readonly string[] {
    const lines: string[] = [];
    let from = 0;
    for (let at = piece.indexOf(lineFeed); at !== -1; at = piece.indexOf(lineFeed, from)) {
      lines.push(this.#finish(piece.subarray(from, at)));
      from = at + 1;
    }
    if (from < piece.length) this.#keep(piece.subarray(from));
    return lines;
  }

  #keep(piece: Uint8Array): void {
    this.#size += piece.length;
    if (this.#size > this.#maxBytes) {
      this.#pieces = [];
      this.#size = 0;
      throw new TubeletError('invalid', `a line is longer than ${this.#maxBytes} bytes`);
    }
    this.#pieces.push(piece);
  }

  #finish(end: Uint8Array): string {
    this.#keep(end);
    const line = Buffer.concat(this.#pieces, this.#size);
    this.#pieces = [];
    this.#size = 0;
    return line.toString('utf8');
  }
}
