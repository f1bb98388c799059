import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transformSync } from 'esbuild';
import { SourceMapTable } from './source-map.ts';

const map = (mappings: string, sources = ['a.ts', 'b.ts']) => new SourceMapTable(JSON.stringify({ sources, mappings }));

test('segments by hand: deltas, several sources, a column without a source', () => {
  // Line 1: column 0 -> a.ts 1; column 4 -> b.ts 3. Line 2: nothing. Line 3: column 2 -> b.ts 2, column 8 without source.
  const table = map('AAAA,ICEA;;EADA,M');
  assert.deepEqual(table.find(1, 1), { source: 'a.ts', line: 1 });
  assert.deepEqual(table.find(1, 4), { source: 'a.ts', line: 1 });
  assert.deepEqual(table.find(1, 5), { source: 'b.ts', line: 3 });
  assert.equal(table.find(2, 1), undefined);
  assert.equal(table.find(3, 2), undefined);
  assert.deepEqual(table.find(3, 3), { source: 'b.ts', line: 2 });
  assert.equal(table.find(4, 1), undefined);
  assert.equal(table.find(0, 1), undefined);
});

for (const minify of [false, true]) {
  test(`finds the lines of real output, ${minify ? 'all on one line' : 'line by line'}`, () => {
    const lines = Array.from({ length: 200 }, (_, index) =>
      index % 3 === 0 ? '' : `export function f${index}(a: number): string { return String(a) + 'mark${index}'; }`,
    );
    const { code, map: json } = transformSync(lines.join('\n'), {
      loader: 'ts',
      sourcemap: true,
      sourcefile: 'x.ts',
      minify,
    });
    const table = new SourceMapTable(json);
    const generated = code.split('\n');
    let found = 0;
    for (const [row, text] of generated.entries()) {
      for (const match of text.matchAll(/mark(\d+)/g)) {
        assert.deepEqual(table.find(row + 1, match.index + 1), { source: 'x.ts', line: Number(match[1]) + 1 });
        found++;
      }
    }
    assert.equal(found, 133);
  });
}

test('what is no source map is refused', () => {
  assert.throws(() => new SourceMapTable('{}'), /no sources/);
  assert.throws(() => map('AA!A'), /base64/);
  assert.throws(() => new SourceMapTable('not json'), SyntaxError);
});
