import { Duration } from '../base/duration.ts';
import { mask } from '../base/masked.ts';
import { nearest } from '../base/nearest.ts';
import { Quantity } from '../model/quantity.ts';
import { buildObject } from './build.ts';
import { quote, type Fault } from './fault.ts';
import type { Origin } from './origin.ts';
import { branch, leaf, type Branch, type SourcedNode } from './sourced-tree.ts';
import {
  isListType,
  isMapType,
  isObjectType,
  type Fields,
  type FieldType,
  type ScalarType,
} from './schema/field-types.ts';

/** What decoding needs to know of the file, and where it collects faults. */
export interface DecodeContext {
  /** Line and file of a path in the document. */
  originOf(path: readonly (string | number)[]): Origin;
  readonly faults: Fault[];
  readonly unknownFields: Fault[];
}

type RawPath = readonly (string | number)[];

/** A value of its own, so that no decoded value equals it. */
const refused: unique symbol = Symbol('refused');

const expectations: Readonly<Record<ScalarType, string>> = {
  bool: 'true or false',
  string: 'text',
  int32: 'a whole number of 32 bits',
  int64: 'a whole number of 64 bits',
  uint32: 'a whole number of 32 bits, not negative',
  float64: 'a number',
  duration: 'a duration such as 1m30s',
  durationOrNanos: 'a duration such as 5s, or nanoseconds',
  quantity: 'a quantity such as 10Mi',
};

export function decodeObject(fields: Fields, raw: unknown, path: RawPath, context: DecodeContext): Branch {
  const origin = context.originOf(path);
  const entries: [string, SourcedNode][] = [];
  if (!isMapping(raw)) {
    refuse(path, 'a mapping of fields', raw, context);
    return branch(origin);
  }
  for (const [key, value] of Object.entries(raw)) {
    const here = [...path, key];
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (field === undefined) {
      const known = nearest(key, Object.keys(fields));
      const message = known === undefined ? 'unknown field' : `unknown field, did you mean ${known}?`;
      context.unknownFields.push({ field: here.join('.'), message, origin: context.originOf(here) });
      continue;
    }
    const node = decodeNode(field.type, value, here, context);
    if (node !== undefined) entries.push([key, node]);
  }
  return branch(origin, entries);
}

function decodeNode(type: FieldType, raw: unknown, path: RawPath, context: DecodeContext): SourcedNode | undefined {
  const origin = context.originOf(path);
  if (raw === null) return leaf(null, origin);
  if (isObjectType(type)) return decodeObject(type.object, raw, path, context);
  if (isMapType(type)) return decodeMap(type.map, raw, path, context);
  const value = decodeValue(type, raw, path, context);
  return value === refused ? undefined : leaf(value, origin);
}

function decodeMap(type: FieldType, raw: unknown, path: RawPath, context: DecodeContext): Branch | undefined {
  if (!isMapping(raw)) {
    refuse(path, 'a mapping', raw, context);
    return undefined;
  }
  const entries: [string, SourcedNode][] = [];
  for (const [key, value] of Object.entries(raw)) {
    const node = decodeNode(type, value, [...path, key], context);
    if (node !== undefined) entries.push([key, node]);
  }
  return branch(context.originOf(path), entries);
}

/** The value below a leaf: scalars and lists with their contents. */
function decodeValue(type: FieldType, raw: unknown, path: RawPath, context: DecodeContext): unknown {
  if (isObjectType(type)) return buildObject(type.object, decodeObject(type.object, raw, path, context));
  if (isMapType(type)) return buildMap(type.map, raw, path, context);
  if (!isListType(type)) {
    const value = readers[type](raw);
    return value === refused ? refuse(path, expectations[type], raw, context) : value;
  }
  if (!Array.isArray(raw)) return refuse(path, 'a list', raw, context);
  const items = raw.map((item: unknown, index) => decodeValue(type.list, item, [...path, index], context));
  return items.includes(refused) ? refused : items;
}

function buildMap(type: FieldType, raw: unknown, path: RawPath, context: DecodeContext): unknown {
  if (!isMapping(raw)) return refuse(path, 'a mapping', raw, context);
  const pairs = Object.entries(raw).map(([key, value]) => [key, decodeValue(type, value, [...path, key], context)]);
  return pairs.some(([, value]) => value === refused) ? refused : Object.fromEntries(pairs);
}

/** The raw values that each scalar type accepts. */
const readers: Readonly<Record<ScalarType, (raw: unknown) => unknown>> = {
  bool: (raw) => (typeof raw === 'boolean' ? raw : refused),
  string: (raw) => (typeof raw === 'string' ? raw : refused),
  int32: (raw) => decodeInteger(-(1n << 31n), (1n << 31n) - 1n, raw),
  int64: (raw) => decodeInteger(-(1n << 63n), (1n << 63n) - 1n, raw),
  uint32: (raw) => decodeInteger(0n, (1n << 32n) - 1n, raw),
  float64: (raw) => (typeof raw === 'number' || typeof raw === 'bigint' ? Number(raw) : refused),
  duration: (raw) => (typeof raw === 'string' ? attempt(() => Duration.parse(raw)) : refused),
  durationOrNanos: (raw) => (isWhole(raw) ? attempt(() => Duration.ofNanos(BigInt(raw))) : readers.duration(raw)),
  quantity: (raw) =>
    typeof raw === 'string' || typeof raw === 'number' ? attempt(() => Quantity.parse(raw)) : refused,
};

function decodeInteger(smallest: bigint, largest: bigint, raw: unknown): unknown {
  if (!isWhole(raw) || BigInt(raw) < smallest || BigInt(raw) > largest) return refused;
  return Number(raw);
}

function isWhole(raw: unknown): raw is number | bigint {
  return typeof raw === 'bigint' || (typeof raw === 'number' && Number.isInteger(raw));
}

function attempt<T>(read: () => T): T | typeof refused {
  try {
    return read();
  } catch {
    // The caller reports the expected type; the reader's message would only repeat it.
    return refused;
  }
}

/** Fields whose values are credentials, which /configz masks too. */
const confidential: ReadonlySet<RawPath[number]> = new Set(['staticPodURLHeader']);

function refuse(path: RawPath, expected: string, raw: unknown, context: DecodeContext): typeof refused {
  const quotes = expected === 'text' && typeof raw !== 'object' ? '; put the value in quotes' : '';
  const shown = confidential.has(path[0] ?? '') ? mask : quote(raw);
  const message = `expected ${expected}, got ${shown}${quotes}`;
  context.faults.push({ field: path.join('.'), message, origin: context.originOf(path) });
  return refused;
}

function isMapping(raw: unknown): raw is Readonly<Record<string, unknown>> {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw);
}
