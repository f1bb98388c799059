import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { absences, markdownTable } from '../support/absence-tables.ts';

const page = readFileSync('docs/metrics.md', 'utf8');

/** What stands below a heading, up to the next one. */
function below(heading: string): string {
  const [, text] = page.split(`\n## ${heading}\n`);
  assert.ok(text !== undefined, `docs/metrics.md has no heading "${heading}"`);
  return text.split('\n## ')[0] ?? '';
}

/** Without what a formatter does to tables. */
const plain = (table: string): string => table.replace(/-{3,}/g, '---').replace(/ *\| */g, '|');

for (const [heading, reasons] of Object.entries(absences)) {
  test(`docs/metrics.md tells the truth: ${heading}`, () => {
    const rows = below(heading)
      .split('\n')
      .filter((line) => line.startsWith('|') || line === 'Nothing.');
    assert.equal(
      plain(rows.join('\n')),
      plain(markdownTable(reasons)),
      'replace the table in docs/metrics.md by the one expected here',
    );
  });
}
