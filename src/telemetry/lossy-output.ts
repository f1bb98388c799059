import type { CancelTimer, Clock } from '../base/clock.ts';

interface LossyOutputDeps {
  readonly clock: Pick<Clock, 'after'>;
  /** Writes what there is room for without waiting, and answers how many bytes; none while its reader does not read. */
  readonly tryWrite: (bytes: Uint8Array) => number;
  /** Waits without the event loop; only for the last lines of a process that exits. */
  readonly pause: (ms: number) => void;
  /** The line that reports lines that were dropped. */
  readonly lossLine: (lines: number) => string;
  readonly maxBytes?: number;
}

/** Kept for a reader that does not keep up. What a log writes in a second at high verbosity fits. */
const defaultMaxBytes = 1024 * 1024;
/** Between two tries: short at first, for a reader that is only a little slower, longer while nothing is read. */
const [minRetryMs, maxRetryMs] = [1, 100];
/** A reader that hangs delays the exit for this long. */
const finish = { tries: 100, pauseMs: 5 };
const newline = 0x0a;

/**
 * Passes text on to a reader and never waits for it: what does not fit is kept up to a limit, further lines are dropped,
 * and their count is reported as soon as the reader takes text again. The order of what arrives is that of the writing.
 */
export class LossyOutput {
  readonly #deps: LossyOutputDeps;
  readonly #maxBytes: number;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #droppedLines = 0;
  #problem: string | undefined;
  #retry: CancelTimer | undefined;
  #retryMs = minRetryMs;

  constructor(deps: LossyOutputDeps) {
    this.#deps = deps;
    this.#maxBytes = deps.maxBytes ?? defaultMaxBytes;
  }

  /** Answers why the reader cannot get it, ever. A reader that is only slow is no such problem. */
  readonly write = (text: string): string | undefined => {
    const bytes = Buffer.from(text);
    if (this.#keptBytes + bytes.length > this.#maxBytes || this.#droppedLines > 0) {
      this.#drain();
      if (this.#keptBytes + bytes.length > this.#maxBytes || this.#droppedLines > 0) {
        this.#droppedLines += linesIn(bytes);
        return this.#problem;
      }
    }
    this.#keep(bytes);
    // A timer is under way where the reader was slow: each line of a busy turn need not find out again.
    if (this.#retry === undefined) this.#drain();
    return this.#problem;
  };

  /** Writes what is kept, and waits for a reader that is slow, but only for a moment. */
  readonly finish = (): void => {
    this.#drain();
    for (let tries = 0; tries < finish.tries && this.#keptBytes > 0; tries++) {
      this.#deps.pause(finish.pauseMs);
      this.#drain();
    }
    this.#forget();
  };

  #keep(bytes: Buffer): void {
    this.#kept.push(bytes);
    this.#keptBytes += bytes.length;
  }

  #drain(): void {
    this.#retry?.();
    this.#retry = undefined;
    const before = this.#keptBytes;
    try {
      this.#writeKept();
      if (this.#keptBytes === 0 && this.#droppedLines > 0) {
        const lines = this.#droppedLines;
        this.#droppedLines = 0;
        this.#keep(Buffer.from(this.#deps.lossLine(lines)));
        this.#writeKept();
      }
      this.#problem = undefined;
    } catch (error) {
      // Any other failure than a lack of room is reported by `problem` alone.
      const { code = 'unknown error' } = error as NodeJS.ErrnoException;
      this.#problem = `standard error does not take text: ${code}`;
      this.#forget();
    }
    if (this.#keptBytes === 0) this.#settle();
    else this.#schedule(this.#keptBytes < before);
  }

  #writeKept(): void {
    for (let next = this.#kept[0]; next !== undefined; next = this.#kept[0]) {
      const written = this.#deps.tryWrite(next);
      this.#keptBytes -= written;
      if (written === next.length) this.#kept.shift();
      else {
        this.#kept[0] = next.subarray(written);
        if (written === 0) return;
      }
    }
  }

  #schedule(hasMoved: boolean): void {
    this.#retryMs = hasMoved ? minRetryMs : Math.min(2 * this.#retryMs, maxRetryMs);
    this.#retry = this.#deps.clock.after(this.#retryMs, () => this.#drain());
    process.removeListener('exit', this.finish);
    process.once('exit', this.finish);
  }

  #settle(): void {
    this.#retryMs = minRetryMs;
    process.removeListener('exit', this.finish);
  }

  #forget(): void {
    this.#retry?.();
    this.#retry = undefined;
    this.#kept = [];
    this.#keptBytes = 0;
    this.#droppedLines = 0;
    this.#settle();
  }
}

function linesIn(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) lines++;
  return lines;
}
