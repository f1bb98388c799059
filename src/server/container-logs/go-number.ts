/** Why a text is no whole number, in the words that Go's clients know. */
type NumberFault = 'invalid syntax' | 'value out of range';

type GoNumber = { readonly value: number } | { readonly fault: NumberFault };

const pattern = /^[+-]?[0-9]+$/;
const largest = 2n ** 63n - 1n;
const smallest = -(2n ** 63n);
/** More digits than a number can have that is worth computing. */
const maxDigits = 400;

/**
 * A decimal whole number of 64 bits. Values that this language cannot hold exactly become the nearest it can: no client
 * counts lines or bytes that far.
 */
export function goNumber(text: string): GoNumber {
  if (!pattern.test(text)) return { fault: 'invalid syntax' };
  if (text.length > maxDigits) return { fault: 'value out of range' };
  const value = BigInt(text.replace('+', ''));
  if (value > largest || value < smallest) return { fault: 'value out of range' };
  return { value: Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(value))) };
}
