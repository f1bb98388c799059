import { TubeletError } from '../../base/errors.ts';

/** More CPUs or memory nodes than any kernel has; a list from outside must not ask for a bitmap without end. */
const maxNumbers = 65_536;

/** A list such as `0-3,8` as bytes in which bit n stands for number n, the lowest first, without zeros at the end. */
export function listBits(list: string): Uint8Array {
  const ranges = list
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(rangeOf);
  if (ranges.length === 0) throw new TubeletError('invalid', 'empty value');
  const bytes = new Uint8Array(Math.floor(Math.max(...ranges.map(({ last }) => last)) / 8) + 1);
  for (const { first, last } of ranges) {
    for (let number = first; number <= last; number++) {
      const index = Math.floor(number / 8);
      bytes[index] = (bytes[index] ?? 0) | (1 << (number % 8));
    }
  }
  return bytes;
}

function rangeOf(text: string): { readonly first: number; readonly last: number } {
  const [, start, end = start] = /^(\d+)(?:-(\d+))?$/.exec(text) ?? [];
  const [first, last] = [Number(start), Number(end)];
  if (!(last < maxNumbers)) throw new TubeletError('invalid', `not a number or a range of numbers: "${text}"`);
  if (first > last) throw new TubeletError('invalid', `invalid range: ${text}`);
  return { first, last };
}
