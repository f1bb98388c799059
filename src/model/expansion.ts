/** The maximum of environment, command and arguments of one container together: Linux passes no more to a new process. */
const maxProcessTextBytes = 2 * 1024 * 1024;

/** Counts what texts take once they are expanded; references to references can stand for more than any memory. */
export class TextBudget {
  readonly #max: number;
  #used = 0;

  constructor(max: number = maxProcessTextBytes) {
    this.#max = max;
  }

  get exceeded(): boolean {
    return this.#used > this.#max;
  }

  /** Returns whether the text still fits. */
  take(length: number): boolean {
    this.#used += length;
    return !this.exceeded;
  }

  /** Why the container cannot have these texts. */
  get message(): string {
    return `environment, command and arguments take more than ${this.#max} bytes once references are expanded; no process can be given so much: use fewer or shorter values, or a volume`;
  }
}

/**
 * Replaces `$(NAME)` by the value of NAME. `$$` stands for one `$`, so `$$(NAME)` stays `$(NAME)`; what has no value
 * or no closing bracket stays as written. When the budget is used up the rest of the text is not expanded.
 */
export function expandVariables(
  text: string,
  lookup: (name: string) => string | undefined,
  budget?: TextBudget,
): string {
  let result = '';
  let position = 0;
  let hasClosing = true;
  const add = (piece: string): boolean => {
    result += piece;
    return budget === undefined || budget.take(piece.length);
  };
  while (position < text.length) {
    const dollar = text.indexOf('$', position);
    if (dollar < 0 || dollar === text.length - 1) {
      add(text.slice(position));
      return result;
    }
    if (!add(text.slice(position, dollar))) return result;
    const next = text[dollar + 1];
    // Without a closing bracket from here on there is none further on: later openings need no search.
    const closing = next === '(' && hasClosing ? text.indexOf(')', dollar + 2) : -1;
    if (next === '(' && closing < 0) hasClosing = false;
    let piece = `$${next ?? ''}`;
    position = dollar + 2;
    if (next === '$') piece = '$';
    else if (closing >= 0) {
      const name = text.slice(dollar + 2, closing);
      piece = lookup(name) ?? `$(${name})`;
      position = closing + 1;
    }
    if (!add(piece)) return result;
  }
  return result;
}
