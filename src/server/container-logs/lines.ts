import type { LogStream } from './log-options.ts';
import type { LogTime } from './log-time.ts';

/** Where parsers put the lines of a file. One line may come in many pieces: none is ever held as a whole. */
export interface LineReceiver {
  /** Nothing more is wanted. */
  readonly done: boolean;
  begin(time: Readonly<LogTime>, stream: LogStream): void;
  /** With the line end where the program's own line ends. */
  content(bytes: Buffer, start: number, end: number): void;
  end(): void;
}

/** Turns the bytes of a log file into lines, in whatever pieces they come. */
export interface LineParser {
  /** Stands within a line. */
  readonly midLine: boolean;
  /** Lines that were of another form and left out. */
  readonly badLines: number;
  /** Stops early when the receiver is done. */
  feed(chunk: Buffer): void;
  /** What is left is all that comes of its line; what comes next begins a line. */
  endOfFile(): void;
}
