import { writeSync } from 'node:fs';

/** Takes text. A text that it answers says why some of it was lost; whatever else it answers means nothing. */
export type WriteText = (text: string) => unknown;

/** Text that waits for the end of the turn; beyond this it is written at once. */
const mostWaiting = 64 * 1024;

/**
 * Collects the text of one turn of the event loop into one write. What still waits when the process exits is written
 * then; the exit listener is there only while something waits.
 */
export class BatchWriter {
  readonly #write: WriteText;
  #waiting = '';
  #problem: string | undefined;
  #scheduled: NodeJS.Immediate | undefined;

  constructor(write: WriteText) {
    this.#write = write;
  }

  /** Why the text written last did not arrive as a whole. */
  get problem(): string | undefined {
    return this.#problem;
  }

  add(text: string): void {
    this.#waiting += text;
    if (this.#waiting.length >= mostWaiting) this.flush();
    else if (this.#scheduled === undefined) {
      this.#scheduled = setImmediate(this.flush);
      process.once('exit', this.flush);
    }
  }

  readonly flush = (): void => {
    if (this.#scheduled !== undefined) {
      clearImmediate(this.#scheduled);
      process.removeListener('exit', this.flush);
      this.#scheduled = undefined;
    }
    if (this.#waiting === '') return;
    const text = this.#waiting;
    this.#waiting = '';
    const answer = this.#write(text);
    this.#problem = typeof answer === 'string' ? answer : undefined;
  };
}

/** How long a reader of our standard error may stall us before lines are lost. */
const longestStallMs = 1_000;

/** Writes to standard error, wholly and at once, whatever is behind it. */
export function writeToStandardError(text: string): string | undefined {
  const bytes = Buffer.from(text);
  let stalledMs = 0;
  for (let at = 0; at < bytes.length && stalledMs < longestStallMs;) {
    try {
      at += writeSync(2, bytes, at);
    } catch (error) {
      // A pipe that is full asks to try again. With any other failure only those who ask can be told.
      const { code = 'unknown error' } = error as NodeJS.ErrnoException;
      if (code !== 'EAGAIN') return `standard error does not take text: ${code}`;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      stalledMs++;
    }
  }
  return stalledMs < longestStallMs ? undefined : 'whoever reads standard error does not keep up: text was lost';
}
