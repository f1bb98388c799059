import { TubeletError } from './errors.ts';

/** A text that is no YAML, with the place where reading it failed; both counts begin at 1. */
export class YamlError extends TubeletError {
  readonly reason: string;
  readonly line: number;
  readonly column: number;

  constructor(reason: string, line: number, column: number, options?: { readonly cause?: unknown }) {
    super('invalid', `line ${line}, column ${column}: ${reason}`, options);
    this.reason = reason;
    this.line = line;
    this.column = column;
  }
}

/** Turns offsets into a text to lines and columns. */
export class LineIndex {
  readonly #starts: readonly number[];

  constructor(text: string) {
    const starts = [0];
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
    this.#starts = starts;
  }

  lineAt(offset: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  }

  errorAt(offset: number, reason: string): YamlError {
    const line = this.lineAt(offset);
    return new YamlError(reason, line, offset - (this.#starts[line - 1] ?? 0) + 1);
  }
}
