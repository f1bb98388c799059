import { inTable, type RowDifference } from '../compare-rows.ts';

/** Every difference there is. A row that no longer holds makes its test fail, and so does a new one. */
export const differences: readonly RowDifference[] = inTable(
  'parsing',
  'percentages are decimal numbers; other ways to write them, and what is no number at all, are refused',
  [
    ['20 {"evictionHard":{"memory.available":"1_0%"}}', 'refused: unreadable'],
    ['21 {"evictionHard":{"memory.available":"0x1p3%"}}', 'refused: unreadable'],
    ['22 {"evictionHard":{"memory.available":"NaN%"}}', 'refused: unreadable'],
  ],
);
