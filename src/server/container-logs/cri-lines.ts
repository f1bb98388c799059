import type { LineParser, LineReceiver } from './lines.ts';
import type { LogStream } from './log-options.ts';
import { newLogTime, readLogTime } from './log-time.ts';

/** Longer than any time, stream and tags with the spaces behind them. */
export const maxHeaderLength = 256;

const newline = 0x0a;
const space = 0x20;
const colon = 0x3a;
const letterP = 0x50;
const nothing = Buffer.alloc(0);

interface Header {
  kind: 'line' | 'more' | 'bad';
  timeEnd: number;
  /** Where the content begins; of a bad one, where the search may go on. */
  end: number;
  stream: LogStream;
  partial: boolean;
}

const newHeader = (): Header => ({ kind: 'more', timeEnd: 0, end: 0, stream: 'stdout', partial: false });

/**
 * Lines as CRI runtimes write them: `<time> <stdout|stderr> <tags> <content>`. Content is passed on as it comes.
 *
 *   header ──three spaces──> content ──line end──> header
 *      └──none in 256 bytes, or of another form──> skipped ──line end──┘
 */
export class CriLines implements LineParser {
  readonly #receiver: LineReceiver;
  readonly #time = newLogTime();
  readonly #header: Header = newHeader();
  #state: 'header' | 'content' | 'skipped' = 'header';
  /** A header that is not yet complete. */
  #carry: Buffer = nothing;
  #badLines = 0;

  constructor(receiver: LineReceiver) {
    this.#receiver = receiver;
  }

  get midLine(): boolean {
    return this.#state !== 'header' || this.#carry.length > 0;
  }

  get badLines(): number {
    return this.#badLines;
  }

  feed(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && !this.#receiver.done;) {
      if (this.#state === 'header') at = this.#readHeader(chunk, at);
      else at = this.#readContent(chunk, at);
    }
  }

  endOfFile(): void {
    if (this.#state === 'content') this.#receiver.end();
    if (this.#carry.length > 0) this.#badLines++;
    this.#carry = nothing;
    this.#state = 'header';
  }

  #readHeader(chunk: Buffer, at: number): number {
    const carried = this.#carry.length;
    const text = carried === 0 ? chunk : Buffer.concat([this.#carry, chunk.subarray(at, at + maxHeaderLength)]);
    const start = carried === 0 ? at : 0;
    const header = this.#header;
    findHeader(text, start, header);
    if (header.kind === 'line' && !readLogTime(text, start, header.timeEnd, this.#time)) header.kind = 'bad';
    if (header.kind === 'more') {
      this.#carry = carried === 0 ? Buffer.from(chunk.subarray(at)) : text;
      return chunk.length;
    }
    this.#carry = nothing;
    if (header.kind === 'line') {
      this.#state = 'content';
      this.#receiver.begin(this.#time, header.stream);
    } else {
      this.#state = 'skipped';
      this.#badLines++;
    }
    // What was carried over had no end of a header or line in it, so the end lies in the chunk.
    return carried === 0 ? header.end : at + header.end - carried;
  }

  #readContent(chunk: Buffer, at: number): number {
    const found = chunk.indexOf(newline, at);
    const wanted = this.#state === 'content';
    if (found < 0) {
      if (wanted) this.#receiver.content(chunk, at, chunk.length);
      return chunk.length;
    }
    if (wanted) {
      // A partial line goes on in the next one, so its own end is not the program's.
      this.#receiver.content(chunk, at, this.#header.partial ? found : found + 1);
      this.#receiver.end();
    }
    this.#state = 'header';
    return found + 1;
  }
}

/** Whether the beginning of a line is that of a line of this form. */
export function isCriLine(head: Buffer): boolean {
  const header: Header = newHeader();
  findHeader(head, 0, header);
  return header.kind === 'line' && readLogTime(head, 0, header.timeEnd, newLogTime());
}

/** Fills one object instead of making one per line: this runs for every line of every log that is read. */
function findHeader(text: Buffer, start: number, into: Header): void {
  const stop = Math.min(text.length, start + maxHeaderLength);
  let spaces = 0;
  let field = start;
  for (let at = start; at < stop; at++) {
    const byte = text[at];
    if (byte === newline) {
      bad(into, at);
      return;
    }
    if (byte !== space) continue;
    spaces++;
    if (spaces === 1) into.timeEnd = at;
    if (spaces === 2) {
      const stream = streamOf(text, field, at);
      if (stream === undefined) {
        bad(into, at);
        return;
      }
      into.stream = stream;
    }
    if (spaces === 3) {
      // Tags are divided by colons; the first says whether the line is whole.
      into.partial = text[field] === letterP && (field + 1 === at || text[field + 1] === colon);
      into.kind = 'line';
      into.end = at + 1;
      return;
    }
    field = at + 1;
  }
  if (stop - start >= maxHeaderLength) bad(into, stop);
  else into.kind = 'more';
}

function bad(into: Header, at: number): void {
  into.kind = 'bad';
  into.end = at;
}

const standard = Buffer.from('std');
const [out, err] = [Buffer.from('out'), Buffer.from('err')];

function streamOf(text: Buffer, start: number, end: number): LogStream | undefined {
  if (end - start !== 6 || !isAt(text, start, standard)) return undefined;
  if (isAt(text, start + 3, out)) return 'stdout';
  return isAt(text, start + 3, err) ? 'stderr' : undefined;
}

function isAt(text: Buffer, start: number, word: Buffer): boolean {
  return text[start] === word[0] && text[start + 1] === word[1] && text[start + 2] === word[2];
}
