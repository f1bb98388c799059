import { TubeletError } from '../../base/errors.ts';
import { goQuote } from '../../model/go-text.ts';
import { CriLines, isCriLine, maxHeaderLength } from './cri-lines.ts';
import { JsonLines } from './json-lines.ts';
import type { LineParser, LineReceiver } from './lines.ts';

const newline = 0x0a;
const openingBrace = 0x7b;
const maxShownLength = 256;

/** Learns from the first line in which of the two forms a log is written; `invalid` when it is in neither. */
export class LogParser implements LineParser {
  readonly #receiver: LineReceiver;
  #parser: LineParser | undefined;
  /** The beginning of the first line, until it is enough to find the format. */
  #head: Buffer = Buffer.alloc(0);

  constructor(receiver: LineReceiver) {
    this.#receiver = receiver;
  }

  get midLine(): boolean {
    return this.#parser?.midLine ?? this.#head.length > 0;
  }

  get badLines(): number {
    return this.#parser?.badLines ?? 0;
  }

  feed(chunk: Buffer): void {
    if (this.#parser !== undefined) {
      this.#parser.feed(chunk);
      return;
    }
    if (chunk.length === 0) return;
    const head = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    if (head.length < maxHeaderLength && !head.includes(newline)) {
      // The chunk is not ours to keep.
      this.#head = Buffer.from(head);
      return;
    }
    this.#begin(head);
  }

  endOfFile(): void {
    if (this.#parser === undefined && this.#head.length > 0) this.#begin(this.#head);
    this.#parser?.endOfFile();
  }

  #begin(head: Buffer): void {
    const parser = parserFor(head, this.#receiver);
    this.#head = Buffer.alloc(0);
    this.#parser = parser;
    parser.feed(head);
  }
}

function parserFor(head: Buffer, receiver: LineReceiver): LineParser {
  if (isCriLine(head)) return new CriLines(receiver);
  if (head[0] === openingBrace) return new JsonLines(receiver);
  const end = head.indexOf(newline);
  const shown = head.toString('utf8', 0, Math.min(maxShownLength, end < 0 ? head.length : end + 1));
  throw new TubeletError('invalid', `failed to get parse function: unsupported log format: ${goQuote(shown)}`);
}
