import type { PodRow } from './pod-row.ts';

/** Rows by `namespace/name`, as they were last told. */
export type ToldRows = ReadonlyMap<string, string>;

interface Changes {
  readonly lines: readonly string[];
  readonly told: ToldRows;
}

/** One plain line for each pod that looks different from what was told last. Age alone is no news. */
export function tellChanges(told: ToldRows, rows: readonly PodRow[]): Changes {
  const now = new Map(rows.map((row) => [`${row.namespace}/${row.name}`, describeRow(row)]));
  const lines = [...now].filter(([key, text]) => told.get(key) !== text).map(([key, text]) => `pod ${key}: ${text}`);
  const gone = [...told.keys()].filter((key) => !now.has(key)).map((key) => `pod ${key}: gone`);
  return { lines: [...lines, ...gone], told: now };
}

/** Without the age, and without how long ago the last restart was: both change all the time. */
function describeRow(row: PodRow): string {
  const restarts = row.restarts.replace(/ \(.*$/, '');
  return `${row.status}, ready ${row.ready}, restarts ${restarts}, ip ${row.ip}`;
}
