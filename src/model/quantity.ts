import { TubeletError } from '../base/errors.ts';

/** How a quantity is written; arithmetic keeps the way of its left side. */
type Format = 'decimalSI' | 'binarySI' | 'decimalExponent';

const binarySuffixes: readonly string[] = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
/** Suffix of 1000^index, from the billionth up. */
const decimalSuffixes: readonly string[] = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const pattern = /^([+-]?)(\d*)(?:\.(\d*))?(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d+))?$/;

const nanosPerUnit = 1_000_000_000n;
/** Larger amounts are read as this one: no machine has as much, and sums stay in the range of the API. */
const largest = ((1n << 63n) - 1n) * nanosPerUnit;

/**
 * An amount of a resource, exact to a billionth. Smaller parts are rounded away from zero, so that a tiny request never
 * becomes none.
 */
export class Quantity {
  readonly #nanos: bigint;
  readonly #format: Format;

  private constructor(nanos: bigint, format: Format) {
    this.#nanos = nanos > largest ? largest : nanos < -largest ? -largest : nanos;
    this.#format = format;
  }

  static readonly zero: Quantity = new Quantity(0n, 'decimalSI');

  /** Reads `1`, `1.5Gi`, `100m`, `2e3`; YAML gives whole amounts as numbers. */
  static parse(text: string | number): Quantity {
    const source = String(text);
    const match = pattern.exec(source);
    const [, sign = '', whole = '', fraction = '', suffix, exponent] = match ?? [];
    if (match === null || whole + fraction === '') {
      throw new TubeletError(
        'invalid',
        `invalid quantity ${JSON.stringify(source)}: write it like 500m, 2, 1.5Gi or 1e6`,
      );
    }
    const digits = BigInt(whole + fraction);
    const { numerator, powerOfTen, format } = scaleOf(suffix, exponent);
    const nanos = scaled(digits * numerator, powerOfTen - fraction.length + 9);
    return new Quantity(sign === '-' ? -nanos : nanos, format);
  }

  static ofValue(value: bigint, format: Format = 'decimalSI'): Quantity {
    return new Quantity(value * nanosPerUnit, format);
  }

  static ofMilli(milli: bigint): Quantity {
    return new Quantity(milli * 1_000_000n, 'decimalSI');
  }

  /** Whole units, rounded away from zero. */
  value(): bigint {
    return divAway(this.#nanos, nanosPerUnit);
  }

  /** Thousandths, rounded likewise. */
  milliValue(): bigint {
    return divAway(this.#nanos, 1_000_000n);
  }

  isZero(): boolean {
    return this.#nanos === 0n;
  }

  sign(): -1 | 0 | 1 {
    if (this.#nanos === 0n) return 0;
    return this.#nanos < 0n ? -1 : 1;
  }

  compare(other: Quantity): number {
    if (this.#nanos === other.#nanos) return 0;
    return this.#nanos < other.#nanos ? -1 : 1;
  }

  add(other: Quantity): Quantity {
    return new Quantity(this.#nanos + other.#nanos, this.isZero() ? other.#format : this.#format);
  }

  sub(other: Quantity): Quantity {
    return new Quantity(this.#nanos - other.#nanos, this.isZero() ? other.#format : this.#format);
  }

  /** The canonical text: no fraction, the largest suffix that leaves a whole number. */
  toString(): string {
    if (this.#nanos === 0n) return '0';
    const sign = this.#nanos < 0n ? '-' : '';
    const magnitude = this.#nanos < 0n ? -this.#nanos : this.#nanos;
    // Below 1024 units binary suffixes are not used; above, parts of a byte are rounded up.
    const binary = this.#format === 'binarySI' && magnitude >= 1024n * nanosPerUnit;
    return sign + (binary ? printBinary(divAway(magnitude, nanosPerUnit)) : printDecimal(magnitude, this.#format));
  }

  toJSON(): string {
    return this.toString();
  }
}

function scaleOf(
  suffix: string | undefined,
  exponent: string | undefined,
): { readonly numerator: bigint; readonly powerOfTen: number; readonly format: Format } {
  if (exponent !== undefined) return { numerator: 1n, powerOfTen: Number(exponent), format: 'decimalExponent' };
  const binary = suffix?.endsWith('i') ? binarySuffixes.indexOf(suffix) : -1;
  if (binary > 0) return { numerator: 1024n ** BigInt(binary), powerOfTen: 0, format: 'binarySI' };
  return { numerator: 1n, powerOfTen: (decimalSuffixes.indexOf(suffix ?? '') - 3) * 3, format: 'decimalSI' };
}

/** amount × 10^power, rounded up; powers are bounded, so that a short text cannot cost much time. */
function scaled(amount: bigint, power: number): bigint {
  if (amount === 0n) return 0n;
  if (power >= 0) return amount * 10n ** BigInt(Math.min(power, 40));
  const digits = amount.toString().length;
  return -power > digits ? 1n : divAway(amount, 10n ** BigInt(-power));
}

function printBinary(value: bigint): string {
  let index = 0;
  let rest = value;
  while (rest % 1024n === 0n && index < binarySuffixes.length - 1) {
    rest /= 1024n;
    index++;
  }
  return `${rest}${binarySuffixes[index] ?? ''}`;
}

function printDecimal(nanos: bigint, format: Format): string {
  let index = 0;
  let rest = nanos;
  while (rest % 1000n === 0n && index < decimalSuffixes.length - 1) {
    rest /= 1000n;
    index++;
  }
  if (format !== 'decimalExponent') return `${rest}${decimalSuffixes[index] ?? ''}`;
  const exponent = (index - 3) * 3;
  return exponent === 0 ? `${rest}` : `${rest}e${exponent}`;
}

/** Rounds away from zero, as the API does. */
function divAway(amount: bigint, divisor: bigint): bigint {
  const quotient = amount / divisor;
  if (amount % divisor === 0n) return quotient;
  return amount > 0n ? quotient + 1n : quotient - 1n;
}
