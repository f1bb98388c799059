/** A number as Go's shortest `g` form has it: 0.005, 999999, 1e+06, 1.2345678e+07. */
export function numberText(value: number): string {
  // Between these two, and only there, it is what JavaScript writes.
  if (value >= 1e-4 && value < 1e6) return `${value}`;
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const [digits = '', exponent = ''] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return `${value}`;
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

/** No number is longer than this. */
export const numberBytes = 24;

/**
 * The same into bytes; answers where it ends. A page has tens of thousands of numbers, and most are integers of 31 bits:
 * those are written without a string in between.
 */
export function writeNumber(bytes: Uint8Array, at: number, value: number): number {
  const small = value | 0;
  if (small === value && small >= 0 && !Object.is(value, -0)) {
    return small < 1_000_000 ? writeDigits(bytes, at, small) : writeExponential(bytes, at, small);
  }
  const text = numberText(value);
  for (let index = 0; index < text.length; index++) bytes[at + index] = text.charCodeAt(index);
  return at + text.length;
}

const zero = 48;

function writeDigits(bytes: Uint8Array, at: number, value: number): number {
  let count = 1;
  for (let rest = (value / 10) | 0; rest > 0; rest = (rest / 10) | 0) count++;
  let rest = value;
  for (let index = at + count - 1; index >= at; index--) {
    const next = (rest / 10) | 0;
    bytes[index] = zero + rest - next * 10;
    rest = next;
  }
  return at + count;
}

/** At least seven digits, so the power has one digit, or is nine at most for 31 bits. */
function writeExponential(bytes: Uint8Array, at: number, value: number): number {
  let digits = value;
  let zeros = 0;
  while (digits % 10 === 0) {
    digits /= 10;
    zeros++;
  }
  // The digits begin one place to the right, so that the first of them can step in front of the point.
  let end = writeDigits(bytes, at + 1, digits);
  const power = end - at - 2 + zeros;
  bytes[at] = bytes[at + 1] ?? zero;
  if (end === at + 2) end = at + 1;
  else bytes[at + 1] = 46;
  bytes[end] = 101;
  bytes[end + 1] = 43;
  bytes[end + 2] = zero;
  bytes[end + 3] = zero + power;
  return end + 4;
}
