import type { LineParser, LineReceiver } from './lines.ts';
import type { LogStream } from './log-options.ts';
import { parseLogTime, type LogTime } from './log-time.ts';

const newline = 0x0a;
/** Docker cuts lines at 16 KiB; what is far longer was not written by Docker and is left out. */
export const maxJsonLineBytes = 1024 * 1024;

const maxParts = 64;

/** A line without a time is older than everything. */
const noTime: LogTime = { seconds: -62_135_596_800, nanos: 0, offsetMinutes: 0 };

interface JsonLine {
  readonly text: string;
  readonly stream: LogStream;
  readonly time: LogTime;
}

/** Lines as Docker writes them: `{"log":"text\n","stream":"stdout","time":"2026-01-01T00:00:00Z"}`. */
export class JsonLines implements LineParser {
  readonly #receiver: LineReceiver;
  /** The line so far. */
  #parts: Buffer[] = [];
  #bytes = 0;
  #tooLong = false;
  #badLines = 0;

  constructor(receiver: LineReceiver) {
    this.#receiver = receiver;
  }

  get midLine(): boolean {
    return this.#tooLong || this.#bytes > 0;
  }

  get badLines(): number {
    return this.#badLines;
  }

  feed(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && !this.#receiver.done;) {
      const found = chunk.indexOf(newline, at);
      const end = found < 0 ? chunk.length : found;
      this.#keep(chunk.subarray(at, end), found >= 0);
      if (found >= 0) this.#finish();
      at = end + 1;
    }
  }

  endOfFile(): void {
    if (this.midLine) this.#finish();
  }

  /** Parts that wait for more are copied: the chunk is not ours. */
  #keep(part: Buffer, last: boolean): void {
    if (this.#bytes + part.length > maxJsonLineBytes) {
      this.#tooLong = true;
      this.#parts = [];
      this.#bytes = 0;
    }
    if (this.#tooLong || part.length === 0) return;
    this.#parts.push(last ? part : Buffer.from(part));
    this.#bytes += part.length;
    // A line that grows byte by byte must not become a list of bytes.
    if (this.#parts.length >= maxParts) this.#parts = [Buffer.concat(this.#parts)];
  }

  #finish(): void {
    const line = this.#tooLong ? undefined : parseJsonLine(Buffer.concat(this.#parts).toString('utf8'));
    this.#parts = [];
    this.#bytes = 0;
    this.#tooLong = false;
    if (line === undefined) {
      this.#badLines++;
      return;
    }
    const content = Buffer.from(line.text);
    this.#receiver.begin(line.time, line.stream);
    this.#receiver.content(content, 0, content.length);
    this.#receiver.end();
  }
}

/** Nothing when it is no line of this form. */
function parseJsonLine(text: string): JsonLine | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const {
    log = '',
    stream,
    time,
  } = value as { readonly log?: unknown; readonly stream?: unknown; readonly time?: unknown };
  if (typeof log !== 'string' || (stream !== 'stdout' && stream !== 'stderr')) return undefined;
  const at = time === undefined ? noTime : typeof time === 'string' ? parseLogTime(time) : undefined;
  return at === undefined ? undefined : { text: log, stream, time: at };
}
