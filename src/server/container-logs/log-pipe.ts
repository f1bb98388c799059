import { LineSelection, type Selection } from './line-selection.ts';
import { LogOutput } from './log-output.ts';
import { LogParser } from './log-parser.ts';

export interface LogPipeOptions extends Selection {
  readonly limitBytes?: number;
}

/** Bytes of log files in, bytes for the client out. Nothing is kept but the beginning of a line. */
export class LogPipe {
  readonly #output: LogOutput;
  readonly #selection: LineSelection;
  readonly #parser: LogParser;

  constructor({ limitBytes, ...selection }: LogPipeOptions) {
    this.#output = new LogOutput(limitBytes);
    this.#selection = new LineSelection(selection, this.#output);
    this.#parser = new LogParser(this.#selection);
  }

  /** The client has got all it asked for. */
  get done(): boolean {
    return this.#selection.done;
  }

  get midLine(): boolean {
    return this.#parser.midLine;
  }

  get badLines(): number {
    return this.#parser.badLines;
  }

  /** Throws `invalid` for a log of an unknown format. */
  feed(chunk: Buffer): readonly Buffer[] {
    this.#parser.feed(chunk);
    return this.#output.take();
  }

  /** What comes next stands in another file. */
  endOfFile(): readonly Buffer[] {
    this.#parser.endOfFile();
    return this.#output.take();
  }
}
