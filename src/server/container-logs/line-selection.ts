import type { LineReceiver } from './lines.ts';
import type { LogStream } from './log-options.ts';
import type { LogOutput } from './log-output.ts';
import { formatRest, formatSecond, isBefore, type LogTime } from './log-time.ts';

export interface Selection {
  readonly since?: Readonly<LogTime>;
  readonly stream?: LogStream;
  readonly timestamps: boolean;
  /** Lines of the file to be parsed, wanted or not. */
  readonly maxLines?: number;
}

const newline = 0x0a;

/** Passes on the lines that are wanted in the form that is wanted. */
export class LineSelection implements LineReceiver {
  readonly #selection: Selection;
  readonly #output: LogOutput;
  #linesLeft: number;
  #wanted = false;
  /** The next line that is passed on begins a line of the program, not a further part of one. */
  #fresh = true;
  /** The last byte of the present line so far. */
  #lastByte = newline;
  /** The second of the last time that was written, with its text. */
  #second = Number.NaN;
  #offset = 0;
  #secondText = '';

  constructor(selection: Selection, output: LogOutput) {
    this.#selection = selection;
    this.#output = output;
    this.#linesLeft = selection.maxLines ?? Number.POSITIVE_INFINITY;
  }

  get done(): boolean {
    return this.#linesLeft <= 0 || this.#output.full;
  }

  begin(time: Readonly<LogTime>, stream: LogStream): void {
    const { since, stream: only, timestamps } = this.#selection;
    this.#wanted = !(since !== undefined && isBefore(time, since)) && (only === undefined || only === stream);
    this.#lastByte = newline;
    if (!this.#wanted || !timestamps || !this.#fresh) return;
    if (time.seconds !== this.#second || time.offsetMinutes !== this.#offset) {
      this.#second = time.seconds;
      this.#offset = time.offsetMinutes;
      this.#secondText = formatSecond(time);
    }
    const prefix = Buffer.from(`${this.#secondText}${formatRest(time)} `, 'latin1');
    this.#output.push(prefix, 0, prefix.length);
  }

  content(bytes: Buffer, start: number, end: number): void {
    if (!this.#wanted || end <= start) return;
    this.#output.push(bytes, start, end);
    this.#lastByte = bytes[end - 1] ?? newline;
  }

  end(): void {
    this.#linesLeft--;
    // What was not passed on has no say in whether the client's line is complete.
    if (this.#wanted) this.#fresh = this.#lastByte === newline;
    this.#wanted = false;
  }
}
