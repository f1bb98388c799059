import { amountOf, parseShare } from '../../../src/model/capacity-share.ts';
import { parseThresholds, type ThresholdConfig } from '../../../src/model/eviction-thresholds.ts';
import { Quantity } from '../../../src/model/quantity.ts';
import { compareRows, loadTable } from '../compare-rows.ts';
import { differences } from './differences.ts';
import { thresholdText, type RecordedThreshold } from './threshold-text.ts';

interface ParsingRow {
  readonly in: ThresholdConfig;
  readonly thresholds?: readonly RecordedThreshold[];
  readonly error?: string;
  readonly errorAnyOf?: readonly string[];
}

interface PercentRow {
  readonly percent: string;
  readonly capacity: number;
  readonly quantity: number;
  readonly text: string;
}

compareRows(
  'parsing',
  loadTable<{ readonly cases: readonly ParsingRow[] }>('eviction/parsing').cases.map((row, index) => ({
    key: `${index} ${JSON.stringify(row.in)}`,
    recorded: answerOf(row),
    ours: () => {
      try {
        return sorted(parseThresholds(row.in).map((one) => thresholdText(one)));
      } catch (error) {
        return refusal((error as Error).message);
      }
    },
  })),
  differences,
);

compareRows(
  'percentages',
  loadTable<{ readonly cases: readonly PercentRow[] }>('eviction/percentages').cases.map((row) => ({
    key: `${row.percent} of ${row.capacity}`,
    recorded: { quantity: row.quantity, text: row.text },
    ours: () => {
      const amount = amountOf(parseShare(row.percent), Quantity.ofValue(BigInt(row.capacity), 'binarySI'));
      return { quantity: amount.value(), text: amount.toString() };
    },
  })),
  differences,
);

/** Where chance decides what is said first, the first in the order of the configuration is right. */
function answerOf({ thresholds = [], error, errorAnyOf }: ParsingRow): unknown {
  const said = error ?? errorAnyOf?.toSorted()[0];
  return said === undefined ? sorted(thresholds.map((one) => thresholdText(one))) : refusal(said);
}

/** What is wrong with a number or a span in itself is said in our words. */
function refusal(message: string): string {
  const ofParsers =
    /^(quantities must match|unable to parse quantity|strconv\.|time: invalid|invalid (quantity|percentage|duration) )/;
  return ofParsers.test(message) ? 'refused: unreadable' : `refused: ${message}`;
}

function sorted(texts: readonly string[]): readonly string[] {
  return texts.toSorted();
}
