import type { PodRow } from './pod-row.ts';
import { sortRows, tableLines, clip } from './table.ts';

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

/** Rows by `namespace/name`, as they were last shown. */
type ShownRows = ReadonlyMap<string, string>;

interface Changes {
  readonly lines: readonly string[];
  readonly shown: ShownRows;
}

/** One plain line for each pod whose row differs from the one shown last. Age alone makes no line. */
export function describeChanges(shown: ShownRows, rows: readonly PodRow[]): Changes {
  const now = new Map(rows.map((row) => [`${row.namespace}/${row.name}`, describeRow(row)]));
  const lines = [...now].filter(([key, text]) => shown.get(key) !== text).map(([key, text]) => `pod ${key}: ${text}`);
  const removed = [...shown.keys()].filter((key) => !now.has(key)).map((key) => `pod ${key}: gone`);
  return { lines: [...lines, ...removed], shown: now };
}

/** Without the age, and without how long ago the last restart was: both change all the time. */
function describeRow(row: PodRow): string {
  const restarts = row.restarts.replace(/ \(.*$/, '');
  return `${row.status}, ready ${row.ready}, restarts ${restarts}, ip ${row.ip}`;
}

interface Frame {
  /** Escape codes and text that turn the former frame into this one. */
  readonly output: string;
  /** Lines that the cursor now stands below. */
  readonly lines: number;
}

const escape = '\u001B[';

/**
 * Draws lines over the `previous` ones in place. Each line is overwritten and only its rest cleared, and everything goes
 * out in one write, so that nothing flickers. What does not fit the terminal is left out: it could not be reached again.
 */
export function redraw(previous: number, lines: readonly string[], width: number, height: number): Frame {
  const room = Math.max(1, height - 1);
  const shown = lines.length <= room ? lines : [...lines.slice(0, room - 1), `… ${lines.length - room + 1} more`];
  const up = previous === 0 ? '' : `${escape}${previous}A`;
  // The last column stays empty: behind a full line, clearing the rest would eat its last character.
  const body = shown.map((line) => `\r${clip(line, width - 1)}${escape}K\n`).join('');
  const rest = shown.length < previous ? `${escape}J` : '';
  return { output: `${up}${body}${rest}`, lines: shown.length };
}
