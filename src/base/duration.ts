import { TubeletError } from './errors.ts';

const unitNanos: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['\u00b5s', 1_000n],
  ['\u03bcs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);

const second = 1_000_000_000n;
const maxNanos = (1n << 63n) - 1n;
const minNanos = -(1n << 63n);
const piece = /(\d*)(?:\.(\d*))?([^\d.]+)/y;

/**
 * A span of time to the nanosecond, in the syntax of Go: that is how flags, configuration files and the API write it.
 * Values are those of a signed 64-bit count of nanoseconds; more does not parse.
 */
export class Duration {
  readonly nanos: bigint;

  private constructor(nanos: bigint) {
    this.nanos = nanos;
  }

  static readonly zero: Duration = new Duration(0n);

  static parse(text: string): Duration {
    const nanos = parseNanos(text);
    if (nanos === undefined) {
      throw new TubeletError('invalid', `invalid duration ${JSON.stringify(text)}: write it like 1m30s, 1.5h or 300ms`);
    }
    return Duration.ofNanos(nanos);
  }

  static ofNanos(nanos: bigint): Duration {
    if (nanos > maxNanos || nanos < minNanos) throw new TubeletError('invalid', `duration out of range: ${nanos}ns`);
    return new Duration(nanos);
  }

  static ofMillis(millis: number): Duration {
    return Duration.ofNanos(fromNumber(millis, 1_000_000));
  }

  static ofSeconds(seconds: number): Duration {
    return Duration.ofNanos(fromNumber(seconds, 1_000_000_000));
  }

  toMillis(): number {
    return Number(this.nanos) / 1e6;
  }

  toSeconds(): number {
    return Number(this.nanos) / 1e9;
  }

  compare(other: Duration): number {
    if (this.nanos === other.nanos) return 0;
    return this.nanos < other.nanos ? -1 : 1;
  }

  toString(): string {
    const magnitude = this.nanos < 0n ? -this.nanos : this.nanos;
    const sign = this.nanos < 0n ? '-' : '';
    if (magnitude === 0n) return '0s';
    if (magnitude < 1_000n) return `${sign}${magnitude}ns`;
    if (magnitude < 1_000_000n) return `${sign}${decimal(magnitude, 1_000n)}\u00b5s`;
    if (magnitude < second) return `${sign}${decimal(magnitude, 1_000_000n)}ms`;
    const minutes = magnitude / (60n * second);
    const rest = `${decimal(magnitude % (60n * second), second)}s`;
    if (minutes === 0n) return `${sign}${rest}`;
    if (minutes < 60n) return `${sign}${minutes}m${rest}`;
    return `${sign}${minutes / 60n}h${minutes % 60n}m${rest}`;
  }

  toJSON(): string {
    return this.toString();
  }
}

/** The whole nanoseconds in `text`, digits below a nanosecond cut off; undefined when it is no duration. */
function parseNanos(text: string): bigint | undefined {
  const negative = text.startsWith('-');
  const body = negative || text.startsWith('+') ? text.slice(1) : text;
  if (body === '0') return 0n;
  if (body === '') return undefined;
  let total = 0n;
  piece.lastIndex = 0;
  for (let at = 0; at < body.length; at = piece.lastIndex) {
    piece.lastIndex = at;
    const [, whole = '', fraction = '', unit = ''] = piece.exec(body) ?? [];
    const scale = unitNanos.get(unit);
    if (scale === undefined || whole + fraction === '') return undefined;
    // Eighteen digits reach below a nanosecond for every unit; more would only feed huge numbers.
    const digits = fraction.slice(0, 18);
    if (whole.length > 40) return undefined;
    total += BigInt(whole || '0') * scale + (BigInt(digits || '0') * scale) / 10n ** BigInt(digits.length);
    if (total > maxNanos + 1n) return undefined;
  }
  const signed = negative ? -total : total;
  return signed > maxNanos ? undefined : signed;
}

function fromNumber(value: number, nanosPerUnit: number): bigint {
  if (!Number.isFinite(value)) throw new TubeletError('invalid', `duration out of range: ${value}`);
  const whole = Math.trunc(value);
  // Whole units go through bigint, so that large counts stay exact.
  return BigInt(whole) * BigInt(nanosPerUnit) + BigInt(Math.round((value - whole) * nanosPerUnit));
}

function decimal(value: bigint, unit: bigint): string {
  const fraction = (value % unit)
    .toString()
    .padStart(unit.toString().length - 1, '0')
    .replace(/0+$/, '');
  return fraction === '' ? `${value / unit}` : `${value / unit}.${fraction}`;
}
