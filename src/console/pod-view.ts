import { describeChanges, type ShownRows } from './changes.ts';
import type { PodRow } from './pod-row.ts';
import { redraw } from './redraw.ts';
import { sortRows, tableLines } from './table.ts';

export interface Screen {
  readonly write: (text: string) => void;
  readonly isTerminal: boolean;
  /** Asked each time, because windows change their size. */
  readonly size: () => { readonly width: number; readonly height: number };
}

/** Shows pods on a terminal as a table redrawn in place, elsewhere as one line for each change. */
export class PodView {
  readonly #screen: Screen;
  #drawn = 0;
  #shown: ShownRows = new Map();

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** `footer` stands below the table; elsewhere it is left out. */
  show(rows: readonly PodRow[], footer: readonly string[]): void {
    const sorted = sortRows(rows);
    if (!this.#screen.isTerminal) {
      const changes = describeChanges(this.#shown, sorted);
      this.#shown = changes.shown;
      for (const line of changes.lines) this.#screen.write(`${line}\n`);
      return;
    }
    const { width, height } = this.#screen.size();
    const body = sorted.length === 0 ? ['no pods'] : tableLines(sorted);
    const frame = redraw(this.#drawn, [...body, ...footer], width, height);
    this.#drawn = frame.lines;
    this.#screen.write(frame.output);
  }

  /** Writes a line above the table, which is drawn again below it at the next `show`. */
  say(line: string): void {
    const clear = this.#drawn === 0 ? '' : `\u001B[${this.#drawn}A\r\u001B[J`;
    this.#drawn = 0;
    this.#screen.write(`${clear}${line}\n`);
  }
}
