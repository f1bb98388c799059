import { TubeletError } from '../base/errors.ts';

/**
 * How many percent of the memory requests of higher tiers qosReserved keeps from lower ones; undefined where it says
 * nothing. Throws what is wrong with it.
 */
export function parseQosReserved(reserved: Readonly<Record<string, string>>): bigint | undefined {
  const other = Object.keys(reserved).find((name) => name !== 'memory');
  if (other !== undefined) throw new TubeletError('invalid', `cannot reserve "${other}" resource`);
  const text = reserved['memory'];
  if (text === undefined) return undefined;
  const percent = percentOf(text);
  if (typeof percent === 'bigint') return percent;
  throw new TubeletError('invalid', `failed to parse percentage "${text}" for "memory" resource: ${percent}`);
}

/** Or what is wrong with the text. */
function percentOf(text: string): bigint | string {
  if (!text.endsWith('%')) return `percentage expected, got '${text}'`;
  const number = text.replace(/%+$/, '');
  if (!/^[+-]?\d+$/.test(number)) return `invalid number in percentage '${text}'`;
  const percent = BigInt(number.replace('+', ''));
  return percent >= 0n && percent <= 100n ? percent : 'percentage must be between 0 and 100';
}
