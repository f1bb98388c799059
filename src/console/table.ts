import type { PodRow } from './pod-row.ts';

const columns: readonly { readonly title: string; readonly of: (row: PodRow) => string }[] = [
  { title: 'NAMESPACE', of: (row) => row.namespace },
  { title: 'NAME', of: (row) => row.name },
  { title: 'READY', of: (row) => row.ready },
  { title: 'STATUS', of: (row) => row.status },
  { title: 'RESTARTS', of: (row) => row.restarts },
  { title: 'AGE', of: (row) => row.age },
  { title: 'IP', of: (row) => row.ip },
];

const gap = '   ';

/** The rows as lines of text with aligned columns, a header first. */
export function tableLines(rows: readonly PodRow[]): readonly string[] {
  const cells = [columns.map((column) => column.title), ...rows.map((row) => columns.map((column) => column.of(row)))];
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => widthOf(line[index] ?? ''))));
  return cells.map((line) =>
    line
      .map((cell, index) => pad(cell, widths[index] ?? 0))
      .join(gap)
      .trimEnd(),
  );
}

/** Rows in the order in which people search them. */
export function sortRows(rows: readonly PodRow[]): readonly PodRow[] {
  const key = (row: PodRow): string => `${row.namespace}\0${row.name}`;
  return rows.toSorted((left, right) => (key(left) < key(right) ? -1 : 1));
}

/** Cuts a line to the width of the terminal; a line that wraps would spoil the redrawing. */
export function clip(line: string, width: number): string {
  const characters = Array.from(line);
  if (characters.length <= width) return line;
  return width < 2 ? characters.slice(0, Math.max(0, width)).join('') : `${characters.slice(0, width - 1).join('')}…`;
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** Code points, which is what these tables hold: names are ASCII. */
const widthOf = (text: string): number => Array.from(text).length;
