/** Takes text. A text that it answers says why some of it was lost; whatever else it answers means nothing. */
export type WriteText = (text: string) => unknown;

/** Text that waits for the end of the turn; beyond this it is written at once. */
const maxWaiting = 64 * 1024;

/**
 * Collects the text of one turn of the event loop into one write. What still waits when the process exits is written
 * then; the exit listener is there only while something waits.
 */
export class BatchWriter {
  readonly #write: WriteText;
  readonly #finish: () => void;
  #waiting = '';
  #problem: string | undefined;
  #scheduled: NodeJS.Immediate | undefined;

  /** `finish` brings what `write` keeps back to its end when the process exits. */
  constructor(write: WriteText, finish: () => void = () => {}) {
    this.#write = write;
    this.#finish = finish;
  }

  /** Why the text written last did not arrive as a whole. */
  get problem(): string | undefined {
    return this.#problem;
  }

  add(text: string): void {
    this.#waiting += text;
    if (this.#waiting.length >= maxWaiting) this.flush();
    else if (this.#scheduled === undefined) {
      this.#scheduled = setImmediate(this.flush);
      process.once('exit', this.#onExit);
    }
  }

  readonly flush = (): void => {
    if (this.#scheduled !== undefined) {
      clearImmediate(this.#scheduled);
      process.removeListener('exit', this.#onExit);
      this.#scheduled = undefined;
    }
    if (this.#waiting === '') return;
    const text = this.#waiting;
    this.#waiting = '';
    const answer = this.#write(text);
    this.#problem = typeof answer === 'string' ? answer : undefined;
  };

  readonly #onExit = (): void => {
    this.flush();
    this.#finish();
  };
}
