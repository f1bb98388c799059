import { deriveContainerfs } from '../../../src/eviction/containerfs-thresholds.ts';
import { parseThresholds, type ThresholdConfig } from '../../../src/model/eviction-thresholds.ts';
import { compareRows, loadTable } from '../compare-rows.ts';
import { differences } from './differences.ts';
import { thresholdText, type RecordedThreshold } from './threshold-text.ts';

interface DerivedRow {
  readonly in: ThresholdConfig;
  readonly imageFs: boolean;
  readonly split: boolean;
  readonly out: readonly RecordedThreshold[];
  /** Of several that are ignored one is named, by chance. */
  readonly error?: string;
  readonly errorAnyOf?: readonly string[];
}

const { cases } = loadTable<{ readonly cases: readonly DerivedRow[] }>('eviction/containerfs-thresholds');
// Where only images have a disk of their own, that disk is an image file system: no node has the other combination.
const possible = cases.filter(({ split, imageFs }) => imageFs || !split);

compareRows(
  'containerfs-thresholds',
  possible.map((row) => ({
    key: JSON.stringify([row.in, row.imageFs, row.split]),
    recorded: {
      // One without an operator is never met.
      thresholds: row.out
        .filter(({ operator }) => operator !== '')
        .map((one) => thresholdText(one))
        .toSorted(),
      ignored: row.errorAnyOf ?? (row.error === undefined ? [] : [row.error]),
    },
    ours: () => {
      const { thresholds, ignored } = deriveContainerfs(
        parseThresholds(row.in),
        row.split ? 'split' : row.imageFs ? 'imagefs' : 'single',
      );
      return { thresholds: thresholds.map((one) => thresholdText(one)).toSorted(), ignored: ignored.toSorted() };
    },
  })),
  differences,
);
