import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { recordCgroups } from '../record-cgroups.ts';

/** Files with the keys of their lines; figures differ from time to time. */
function shapeOf(record: string): Readonly<Record<string, readonly string[]>> {
  const parts = record.split(/^=== /m).slice(1);
  const files = parts.map((part) => part.split('\n')).filter(([path]) => path !== 'README');
  return Object.fromEntries(files.map(([path = '', ...lines]) => [path, lines.map(keyOf)]));
}

/** A line of figures alone has no key; a device may have nothing to tell. */
function keyOf(line: string): string {
  const [first = '', ...rest] = line.split(' ');
  return rest.length === 0 || /^(?:max|\d+)$/.test(first) ? '' : first;
}

test('the record of cgroup v2 is what this machine says', async () => {
  const now = shapeOf(await recordCgroups());
  const kept = shapeOf(readFileSync('test/golden/cgroups/v2.txt', 'utf8'));
  const withoutCounts = (shape: typeof now): typeof now =>
    Object.fromEntries(Object.entries(shape).map(([path, keys]) => [path, /procs$|io\.stat$/.test(path) ? [] : keys]));
  assert.deepEqual(withoutCounts(now), withoutCounts(kept));
});
