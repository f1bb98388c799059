import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';

/** A table recorded from the functions of a Go kubelet, such as `cgroups/names`. Large ones are compressed. */
export function loadTable<T>(name: string): T {
  const path = `test/golden/${name}.json`;
  const text = existsSync(path) ? readFileSync(path) : gunzipSync(readFileSync(`${path}.gz`));
  return JSON.parse(text.toString('utf8')) as T;
}

/** One row of a recorded table that this agent answers otherwise, on purpose. */
export interface RowDifference {
  readonly table: string;
  readonly row: string;
  readonly why: string;
  /** What we answer instead: the fields that differ, or the whole answer where it has none. */
  readonly ours: unknown;
}

/** Rows of one table that differ for one reason. */
export function inTable(
  table: string,
  why: string,
  rows: readonly (readonly [row: string, ours: unknown])[],
): readonly RowDifference[] {
  return rows.map(([row, ours]) => ({ table, row, why, ours }));
}

export interface Row {
  /** Unique in its table. */
  readonly key: string;
  readonly recorded: unknown;
  /** What was recorded in other runs, where chance decides. */
  readonly otherwise?: readonly unknown[];
  readonly ours: () => unknown;
}

/** Every row agrees, or stands in the table of differences with exactly what we answer instead. */
export function compareRows(table: string, rows: readonly Row[], differences: readonly RowDifference[]): void {
  const known = new Map(differences.filter((one) => one.table === table).map((one) => [one.row, one] as const));
  void test(`every row of ${table}: ${rows.length} rows, ${known.size} differ on purpose`, () => {
    assert.ok(rows.length > 0, 'there are rows');
    assert.equal(new Set(rows.map(({ key }) => key)).size, rows.length, 'keys are unique');
    const keys = new Set(rows.map(({ key }) => key));
    for (const row of known.keys())
      assert.ok(keys.has(row), `the table of differences names ${row}, which is not there`);
    const wrong = rows.flatMap((row) => faultOf(row, known.get(row.key)));
    assert.ok(
      wrong.length === 0,
      `${wrong.length} rows:\n${wrong
        .slice(0, 50)
        .map((one) => JSON.stringify(one))
        .join('\n')}`,
    );
  });
}

function faultOf({ key, recorded, otherwise = [], ours }: Row, known: RowDifference | undefined): readonly object[] {
  const answer = plain(answerOf(ours));
  const expected = plain(recorded);
  if (otherwise.some((one) => isSame(answer, plain(one)))) return [];
  if (known === undefined) return isSame(answer, expected) ? [] : [{ key, recorded: expected, ours: answer }];
  if (isSame(answer, expected)) return [{ key, agrees: 'remove it from the table of differences' }];
  const tabled = plain(overlaid(expected, known.ours));
  return isSame(answer, tabled) ? [] : [{ key, tabled, ours: answer }];
}

/** The table of differences names only the fields that differ. */
function overlaid(recorded: unknown, ours: unknown): unknown {
  return isObject(recorded) && isObject(ours) ? { ...recorded, ...ours } : ours;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function answerOf(ours: () => unknown): unknown {
  try {
    return ours();
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

/** As JSON has it: without what is undefined, keys in order, big numbers as numbers. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  const kept = entries
    .filter(([, part]) => part !== undefined)
    .map(([key, part]) => [String(key), plain(part)] as const);
  return Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
