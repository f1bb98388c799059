import { writeSync } from 'node:fs';

/** Text that waits for the end of the turn; beyond this it is written at once. */
const mostWaiting = 64 * 1024;

/**
 * Collects the text of one turn of the event loop into one write. What still waits when the process exits is written
 * then; the exit listener is there only while something waits.
 */
export class BatchWriter {
  readonly #write: (text: string) => void;
  #waiting = '';
  #scheduled: NodeJS.Immediate | undefined;

  constructor(write: (text: string) => void) {
    this.#write = write;
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
    this.#write(text);
  };
}

/** How long a reader of our standard error may stall us before lines are lost. */
const longestStallMs = 1_000;

/** Writes to standard error, wholly and at once, whatever is behind it. */
export function writeToStandardError(text: string): void {
  const bytes = Buffer.from(text);
  let stalledMs = 0;
  for (let at = 0; at < bytes.length && stalledMs < longestStallMs;) {
    try {
      at += writeSync(2, bytes, at);
    } catch (error) {
      // A pipe that is full asks to try again. With any other failure there is nobody left to tell.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      stalledMs++;
    }
  }
}
