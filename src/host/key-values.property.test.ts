import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fieldOf } from './cgroup-usage-text.ts';
import { asPids, KeyValueParser } from './key-values.ts';

const wanted = ['rss', 'swap', 'total_rss', 'a'] as const;
const key = fc.constantFrom(...wanted, 'b', 'map', 'cache', 'rss_huge');
const value = fc.oneof(fc.nat().map(String), fc.constantFrom('', 'max', '-1', '007', '9007199254740991'));
const end = fc.constantFrom('\n', '\n', '\n', '', ' \n', '\n\n');
const line = fc.tuple(key, value, end).map(([name, figure, after]) => `${name} ${figure}${after}`);
const file = fc.array(line, { maxLength: 6 }).map((lines) => lines.join(''));

test('whatever files came before, the figures are those of the words of this one', () => {
  fc.assert(
    fc.property(
      fc.array(file, { minLength: 1, maxLength: 8 }),
      fc.array(fc.nat(7), { maxLength: 16 }),
      (files, order) => {
        const form = new KeyValueParser(wanted);
        // Some of them several times, so that patterns are met again.
        for (const text of [...files, ...order.map((index) => files[index % files.length] ?? '')]) {
          const found = form.of(Buffer.from(`${text}rss 1\n`), text.length);
          for (const name of wanted)
            assert.equal(found.at(form.places[name]), fieldOf(text, name), `${name} of ${JSON.stringify(text)}`);
        }
      },
    ),
  );
});

test('processes are those of the lines that are a number, whatever else is there', () => {
  const word = fc.constantFrom('0', '1', '42', '007', '4194304', '', 'x', ' ', '-3');
  fc.assert(
    fc.property(fc.array(word), fc.constantFrom('', '\n'), (words, end) => {
      const text = words.join('\n') + end;
      // Bytes of a longer file before are behind those of this one.
      const found = asPids.of(Buffer.from(`${text}99\n`), text.length);
      const lines = text.split('\n').filter((line) => /^\d+$/.test(line));
      assert.deepEqual(
        found,
        lines.map(Number).filter((pid) => pid > 0),
      );
    }),
  );
});
