import { clip } from './table.ts';

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
