import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SourceMapTable } from './source-map.ts';

/** A place in the source, for the head of a log line. */
export interface SourcePosition {
  /** Base name of the file. */
  readonly file: string;
  readonly line: number;
}

interface FramePosition extends SourcePosition {
  /** The frame is none of a file, or of code that only hands lines on. */
  readonly skipped: boolean;
}

export const unknownPosition: SourcePosition = { file: '???', line: 1 };

/** On top of each stack: its heading, `caller` itself and the method of the log that asked. */
const ownLines = 3;
/** Frames asked for: our own two, the caller, and a little more in case that is a wrapper of the log. */
const framesLooked = 5;

/** Code that only hands lines on; the position of interest is its caller. */
const logCode = /(^|\/)(telemetry\/create-log|base\/log)\.[cm]?[jt]s$/;

export interface SourcePositionsOptions {
  /** The text of a file, or undefined where there is none. */
  readonly readText?: (path: string) => string | undefined;
}

/**
 * Says where in the source a caller stands. The program runs as one bundled file; the map beside it is read when the
 * first line is written, and each call site is worked out once: there are as many as the program has lines.
 */
export class SourcePositions {
  readonly #readText: (path: string) => string | undefined;
  readonly #tables = new Map<string, SourceMapTable | undefined>();
  readonly #frames = new Map<string, FramePosition>();

  constructor(options: SourcePositionsOptions = {}) {
    this.#readText = options.readText ?? readTextIfThere;
  }

  /** The place that called the method that calls this. */
  caller(): SourcePosition {
    const before = Error.stackTraceLimit;
    Error.stackTraceLimit = framesLooked;
    try {
      return this.ofStack(String(new Error('here').stack), ownLines);
    } finally {
      Error.stackTraceLimit = before;
    }
  }

  /** The first place of a stack trace, after some lines, that is not log code. */
  ofStack(stack: string, skippedLines: number): SourcePosition {
    for (const frame of stack.split('\n').slice(skippedLines)) {
      const position = this.#positionOf(frame);
      if (!position.skipped) return position;
    }
    return unknownPosition;
  }

  #positionOf(frame: string): FramePosition {
    const known = this.#frames.get(frame);
    if (known !== undefined) return known;
    const position = this.#translate(frame);
    this.#frames.set(frame, position);
    return position;
  }

  #translate(frame: string): FramePosition {
    const match = /((?:file:\/\/)?\/.*):(\d+):(\d+)\)?$/.exec(frame);
    if (match?.[1] === undefined) return { ...unknownPosition, skipped: true };
    const path = match[1].startsWith('file://') ? fileURLToPath(match[1]) : match[1];
    const mapped = this.#table(path)?.find(Number(match[2]), Number(match[3]));
    const source = mapped?.source ?? path;
    return { file: basename(source), line: mapped?.line ?? Number(match[2]), skipped: logCode.test(source) };
  }

  #table(path: string): SourceMapTable | undefined {
    if (this.#tables.has(path)) return this.#tables.get(path);
    const text = this.#readText(`${path}.map`);
    const table = text === undefined ? undefined : readTable(text);
    this.#tables.set(path, table);
    return table;
  }
}

/** A map that cannot be read costs the names of the sources, not the log. */
function readTable(text: string): SourceMapTable | undefined {
  try {
    return new SourceMapTable(text);
  } catch {
    return undefined;
  }
}

function readTextIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
