import { TubeletError } from '../base/errors.ts';

const lineFeed = 0x0a;
/** An object that the API server stores has 1.5 MiB at the utmost, and as JSON six times as much. */
const defaultMostBytes = 16 * 1024 * 1024;

/**
 * Cuts pieces as they arrive into lines. What is not finished is kept as the pieces it came in and copied once, so that
 * a long line in many pieces costs its length and not the square of it. A line may end within a character of UTF-8 only
 * by being cut off, and then it is never given out.
 */
export class LineSplitter {
  readonly #mostBytes: number;
  #pieces: Uint8Array[] = [];
  #size = 0;

  constructor(mostBytes: number = defaultMostBytes) {
    this.#mostBytes = mostBytes;
  }

  /** Bytes of the line that is not finished. */
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
    if (this.#size > this.#mostBytes) {
      this.#pieces = [];
      this.#size = 0;
      throw new TubeletError('invalid', `a line is longer than ${this.#mostBytes} bytes`);
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
