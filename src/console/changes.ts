import type { PodRow } from './pod-row.ts';

/** Rows by `namespace/name`, as they were last shown. */
export type ShownRows = ReadonlyMap<string, string>;

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
