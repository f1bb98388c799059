import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { asNumber, asPids, KeyValueParser } from './key-values.ts';

/** As the one buffer of all files has them: with those of a longer file before behind them. */
function read<T>(form: { of(bytes: Buffer, length: number): T }, text: string): T {
  return form.of(Buffer.from(`${text}7 9\nold 5\n`), text.length);
}

test('a file of one number', () => {
  const cases: readonly (readonly [string, number | undefined])[] = [
    ['0\n', 0],
    ['123\n', 123],
    ['9007199254740991\n', Number.MAX_SAFE_INTEGER],
    ['12', 12],
    ['max\n', undefined],
    ['-1\n', undefined],
    ['\n', undefined],
    ['', undefined],
  ];
  for (const [text, expected] of cases) assert.equal(read(asNumber, text), expected, JSON.stringify(text));
});

test('processes, without those of foreign namespaces', () => {
  const cases: readonly (readonly [string, readonly number[]])[] = [
    ['1\n0\n42\n', [1, 42]],
    ['4194304\n', [4_194_304]],
    ['10\n7', [10, 7]],
    ['\n3\n', [3]],
    ['', []],
  ];
  for (const [text, expected] of cases) assert.deepEqual(read(asPids, text), expected, JSON.stringify(text));
});

describe('figures by their keys', () => {
  const form = new KeyValueParser(['rss', 'total_rss', 'swap']);
  const figures = (text: string): readonly (number | undefined)[] => {
    const found = read(form, text);
    return [found.at(form.places.rss), found.at(form.places.total_rss), found.at(form.places.swap)];
  };

  test('one file after the other, of this pattern or that', () => {
    const cases: readonly (readonly [string, readonly (number | undefined)[]])[] = [
      ['cache 1\nrss 2\nrss_huge 3\ntotal_rss 4\n', [2, 4, undefined]],
      ['cache 10\nrss 200\nrss_huge 0\ntotal_rss 40000\n', [200, 40_000, undefined]],
      ['cache 1\nrss 2\nrss_huge 3\n', [2, undefined, undefined]],
      ['cache 1\nswap 2\nrss_huge 3\n', [undefined, undefined, 2]],
      ['swap 5\nrss 2\nrss_huge 3\n', [2, undefined, 5]],
      ['swap 5\nrss 2\nrss_huge 3', [2, undefined, 5]],
      ['swap 5\nrss 2\nrss 3\n', [2, undefined, 5]],
      ['swap 6\nrss 7\nrss 8\n', [7, undefined, 6]],
      ['swap max\nrss 7\n', [7, undefined, undefined]],
      ['swap 1\nrss 7\n', [7, undefined, 1]],
      ['swap 1\nrss \n', [undefined, undefined, 1]],
      ['', [undefined, undefined, undefined]],
    ];
    for (const [text, expected] of cases) assert.deepEqual(figures(text), expected, JSON.stringify(text));
  });

  test('nothing is left of the file before', () => {
    assert.deepEqual(figures('rss 1\nswap 2\n'), [1, undefined, 2]);
    assert.deepEqual(figures('rss 1\nother 2\n'), [1, undefined, undefined]);
  });
});
