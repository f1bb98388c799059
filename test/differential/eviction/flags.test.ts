import { flagReaders } from '../../../src/config/flags/values.ts';
import { compareRows, loadTable } from '../compare-rows.ts';
import { differences } from './differences.ts';

interface FlagRow {
  readonly kind: '<' | '=';
  /** One value for each time the flag is given. */
  readonly args: readonly string[];
  readonly map?: Readonly<Record<string, string>>;
  readonly error?: string;
}

compareRows(
  'parsing-flags',
  loadTable<{ readonly cases: readonly FlagRow[] }>('eviction/parsing-flags').cases.map((row) => ({
    key: JSON.stringify([row.kind, row.args]),
    recorded: row.error === undefined ? (row.map ?? {}) : 'refused',
    ours: () => {
      const { read } = row.kind === '<' ? flagReaders.angleMap : flagReaders.map;
      try {
        return row.args.reduce<Readonly<Record<string, string>>>((before, text) => read(text, before), {});
      } catch {
        return 'refused';
      }
    },
  })),
  differences,
);
