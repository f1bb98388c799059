import { Quantity } from './quantity.ts';

interface ScalarRule {
  /** Go's zero value of the type. */
  readonly zero: unknown;
  readonly expected: string;
  /** The value in its canonical form; undefined when it is of a wrong type. */
  read(value: unknown): unknown;
}

const int32Limit = 2 ** 31;
const int64Limit = 2 ** 63;
const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

/** The leaf types of the field table, read as Go's JSON decoder does: no text for numbers, no numbers for text. */
const rules = {
  string: { zero: '', expected: 'a string', read: (value) => (typeof value === 'string' ? value : undefined) },
  boolean: {
    zero: false,
    expected: 'true or false',
    read: (value) => (typeof value === 'boolean' ? value : undefined),
  },
  int32: { zero: 0, expected: 'a whole number of 32 bits', read: (value) => integer(value, int32Limit) },
  int64: { zero: 0, expected: 'a whole number of 64 bits', read: (value) => integer(value, int64Limit) },
  intOrString: {
    zero: 0,
    expected: 'a whole number of 32 bits or a string',
    read: (value) => (typeof value === 'string' ? value : integer(value, int32Limit)),
  },
  quantity: { zero: '0', expected: 'a quantity such as 500m, 2 or 1.5Gi', read: quantity },
  bytes: { zero: '', expected: 'bytes in base64', read: bytes },
  time: { zero: undefined, expected: 'a time such as 2006-01-02T15:04:05Z', read: time },
  // Only metadata.managedFields has free-form data, which the agent never reads: not worth carrying about.
  object: { zero: {}, expected: 'an object', read: (value) => (typeof value === 'object' ? {} : undefined) },
} satisfies Record<string, ScalarRule>;

/** The rule for a type of the field table, if it is a leaf. */
export function scalarRule(type: string): ScalarRule | undefined {
  return Object.hasOwn(rules, type) ? rules[type as keyof typeof rules] : undefined;
}

function integer(value: unknown, limit: number): number | undefined {
  const number = typeof value === 'bigint' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number) || number < -limit || number >= limit) return undefined;
  // YAML has minus zero, which Object.is and === compare differently.
  return number === 0 ? 0 : number;
}

/** Amounts are kept in their one canonical spelling, so that equal amounts are equal texts. */
function quantity(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = typeof value === 'string' ? value.trim() : value;
  if (text === '') return '0';
  try {
    return Quantity.parse(text).toString();
  } catch {
    // The only failure is a text that is no quantity, which the caller reports with its path and line.
    return undefined;
  }
}

/** Bytes stay in base64, on one line and in its one canonical spelling, so that equal bytes are equal texts. */
function bytes(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.replace(/[\r\n]/g, '');
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  return Buffer.from(text, 'base64').toString('base64');
}

function time(value: unknown): string | undefined {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : value.toISOString();
  return typeof value === 'string' && rfc3339.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined;
}
