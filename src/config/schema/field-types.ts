import { Duration } from '../../base/duration.ts';
import { Quantity } from '../../model/quantity.ts';

/** `durationOrNanos` also takes a bare number of nanoseconds, as the logging options do. */
export type ScalarType =
  | 'bool'
  | 'string'
  | 'int32'
  | 'int64'
  | 'uint32'
  | 'float64'
  | 'duration'
  | 'durationOrNanos'
  | 'quantity';

export type FieldType =
  | ScalarType
  | { readonly list: FieldType }
  | { readonly map: FieldType }
  | { readonly object: Fields };

/**
 * How a field treats absence, which decides what defaulting does and what `/configz` shows:
 *  - plain: zero and absent are the same; both take the default, and zero is not shown
 *  - pointer: only absence takes the default; always shown
 *  - optional: absence stays absence
 *  - shown: as plain, but shown also when zero
 */
type Presence = 'plain' | 'pointer' | 'optional' | 'shown';

export interface Field {
  readonly type: FieldType;
  readonly presence: Presence;
  readonly default?: unknown;
}

export type Fields = Readonly<Record<string, Field>>;

/** The values of the scalar types once decoded. */
interface ScalarValues {
  readonly bool: boolean;
  readonly string: string;
  readonly int32: number;
  readonly int64: number;
  readonly uint32: number;
  readonly float64: number;
  readonly duration: Duration;
  readonly durationOrNanos: Duration;
  readonly quantity: Quantity;
}

/** The value that a field type has once decoded. */
type ValueOf<T> = T extends ScalarType
  ? ScalarValues[T]
  : T extends { readonly list: infer E }
    ? readonly ValueOf<E>[]
    : T extends { readonly map: infer E }
      ? Readonly<Record<string, ValueOf<E>>>
      : T extends { readonly object: infer O }
        ? ObjectValue<O>
        : never;

/** Defaults are scalars or lists of them; the values of deeper types have no default of their own. */
type DefaultOf<T> = T extends ScalarType
  ? ScalarValues[T]
  : T extends { readonly list: infer E extends ScalarType }
    ? readonly ScalarValues[E][]
    : never;

export type ObjectValue<O> = { readonly [K in keyof O]: FieldValue<O[K]> };

type FieldValue<F> = F extends { readonly presence: 'optional'; readonly type: infer T }
  ? ValueOf<T> | undefined
  : F extends { readonly type: infer T }
    ? ValueOf<T>
    : never;

export function plain<const T extends FieldType>(
  type: T,
  byDefault?: DefaultOf<T>,
): { readonly type: T; readonly presence: 'plain'; readonly default?: unknown } {
  return byDefault === undefined ? { type, presence: 'plain' } : { type, presence: 'plain', default: byDefault };
}

export function pointer<const T extends FieldType>(
  type: T,
  byDefault: DefaultOf<T>,
): { readonly type: T; readonly presence: 'pointer'; readonly default: unknown } {
  return { type, presence: 'pointer', default: byDefault };
}

export function optional<const T extends FieldType>(type: T): { readonly type: T; readonly presence: 'optional' } {
  return { type, presence: 'optional' };
}

export function shown<const T extends FieldType>(type: T): { readonly type: T; readonly presence: 'shown' } {
  return { type, presence: 'shown' };
}

/** A plain duration with its default in Go's syntax; without one it stays zero. */
export function span(byDefault: string): {
  readonly type: 'duration';
  readonly presence: 'plain';
  readonly default?: unknown;
} {
  return plain('duration', Duration.parse(byDefault));
}

export function object<const O extends Fields>(
  fields: O,
): { readonly type: { readonly object: O }; readonly presence: 'plain' } {
  return { type: { object: fields }, presence: 'plain' };
}

export function isObjectType(type: FieldType): type is { readonly object: Fields } {
  return typeof type === 'object' && 'object' in type;
}

export function isMapType(type: FieldType): type is { readonly map: FieldType } {
  return typeof type === 'object' && 'map' in type;
}

export function isListType(type: FieldType): type is { readonly list: FieldType } {
  return typeof type === 'object' && 'list' in type;
}

/** The value of a plain field that is not set. */
export function zeroOf(type: FieldType): unknown {
  if (isListType(type)) return [];
  if (typeof type === 'object') return {};
  return zeros[type];
}

const zeros: ScalarValues = {
  bool: false,
  string: '',
  int32: 0,
  int64: 0,
  uint32: 0,
  float64: 0,
  duration: Duration.zero,
  durationOrNanos: Duration.zero,
  quantity: Quantity.zero,
};

export function isZero(value: unknown): boolean {
  if (value instanceof Duration) return value.nanos === 0n;
  if (value instanceof Quantity) return value.isZero();
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === false || value === 0 || value === '';
}
