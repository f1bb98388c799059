import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { goldenSystemd } from '../../testing/golden-cgroups.ts';
import { listBits } from './cpu-bits.ts';

/** Whose error has other words: ours do not speak of the parser. */
const otherWords = new Set(['a', '1-']);

test('bits of lists, as recorded', () => {
  for (const { cpus, bytes, error } of goldenSystemd().rangeToBits) {
    if (error === undefined) assert.equal(Buffer.from(listBits(cpus)).toString('hex'), bytes, cpus);
    else assert.throws(() => listBits(cpus), otherWords.has(cpus) ? /not a number/ : { message: error }, cpus);
  }
});

test('a list names exactly the numbers whose bits are set, and no byte is wasted', () => {
  const list = fc.uniqueArray(fc.nat(300), { minLength: 1 });
  fc.assert(
    fc.property(list, (numbers) => {
      const bytes = listBits(numbers.join(','));
      const found = [...bytes].flatMap((byte, index) =>
        [0, 1, 2, 3, 4, 5, 6, 7].flatMap((bit) => ((byte >> bit) & 1 ? [index * 8 + bit] : [])),
      );
      assert.deepEqual(
        found,
        numbers.toSorted((a, b) => a - b),
      );
      assert.notEqual(bytes.at(-1), 0);
    }),
  );
});

test('a number that no kernel has is refused', () => {
  assert.throws(() => listBits('0-4294967295'), { kind: 'invalid' });
  assert.throws(() => listBits('99999999999999999999'), { kind: 'invalid' });
});
