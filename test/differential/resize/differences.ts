import { type RowDifference } from '../compare-rows.ts';

/** Every difference there is. A row that no longer holds makes its test fail, and so does a new one. */
export const differences: readonly RowDifference[] = [];
