import { TubeletError } from '../base/errors.ts';
import { ownValue } from '../base/own-value.ts';
import {
  deleteFromPrimitiveList,
  isJsonMap,
  listRule,
  setElementOrder,
  typeBelow,
  type JsonMap,
} from '../model/patch-schema.ts';

/** The object that an API server makes of `original` by a strategic merge patch. Neither of them is changed. */
export function applyStrategicMergePatch<T extends object>(original: T, patch: unknown, typeName: string): T {
  if (!isJsonMap(patch)) throw new TubeletError('invalid', 'a strategic merge patch is a JSON object');
  return applyToMap(original as JsonMap, patch, typeName) as T;
}

function applyToMap(original: JsonMap, patch: JsonMap, typeName: string | undefined): JsonMap {
  const directive = patch['$patch'];
  if (directive === 'delete') return {};
  if (directive !== undefined && directive !== 'replace' && directive !== 'merge') {
    throw new TubeletError('invalid', `$patch: ${JSON.stringify(directive)} is none of merge, replace, delete`);
  }
  const result: Record<string, unknown> = directive === 'replace' ? {} : { ...original };
  for (const field of fieldsOf(patch)) {
    const value = ownValue(patch, field);
    const below = typeBelow(typeName, field);
    const before = ownValue(result, field);
    if (value === null) delete result[field];
    else if (isJsonMap(value)) result[field] = applyToMap(isJsonMap(before) ? before : {}, value, below);
    else if (value === undefined || Array.isArray(value)) {
      result[field] = applyToList(Array.isArray(before) ? before : undefined, patch, field, typeName);
    } else result[field] = value;
  }
  const retained = patch['$retainKeys'];
  if (Array.isArray(retained))
    for (const field of Object.keys(result)) if (!retained.includes(field)) delete result[field];
  return result;
}

/** The fields that a patch is about; of a list perhaps only its order or what shall leave it. */
function fieldsOf(patch: JsonMap): ReadonlySet<string> {
  const fields = Object.keys(patch).flatMap((field) => {
    for (const prefix of [setElementOrder, deleteFromPrimitiveList]) {
      if (field.startsWith(prefix)) return [field.slice(prefix.length)];
    }
    return field.startsWith('$') ? [] : [field];
  });
  return new Set(fields);
}

function applyToList(
  present: readonly unknown[] | undefined,
  patch: JsonMap,
  field: string,
  typeName: string | undefined,
): readonly unknown[] {
  const rule = listRule(typeName, field);
  const before = present ?? [];
  const items = listOf(patch, field);
  const order = listOf(patch, `${setElementOrder}${field}`);
  if (rule.kind === 'atomic') return items;
  if (rule.kind === 'set') {
    const removed = listOf(patch, `${deleteFromPrimitiveList}${field}`);
    const merged = [...new Set([...before, ...items])].filter((value) => !removed.includes(value));
    return inOrder(merged, before, order, (value) => value);
  }
  const { key } = rule;
  const keyOf = (item: unknown): unknown => (isJsonMap(item) ? item[key] : undefined);
  const merged = mergeKeyed(present, items, keyOf, key, typeBelow(typeName, field));
  return inOrder(merged, before, order.map(keyOf), keyOf);
}

function mergeKeyed(
  before: readonly unknown[] | undefined,
  items: readonly unknown[],
  keyOf: (item: unknown) => unknown,
  key: string,
  below: string | undefined,
): readonly unknown[] {
  if (!items.every(isJsonMap)) throw new TubeletError('invalid', `an item of a list merged by ${key} is no object`);
  if (items.some((item) => keyOf(item) === undefined && item['$patch'] !== 'replace')) {
    throw new TubeletError('invalid', `an item of a list merged by ${key} has no ${key}`);
  }
  const plain = items.filter((item) => item['$patch'] === undefined || item['$patch'] === 'merge');
  // Where there is nothing to merge with, items may share a key.
  if (before === undefined || items.some((item) => item['$patch'] === 'replace')) {
    return plain.map((item) => applyToMap({}, item, below));
  }

  const removed = new Set(items.filter((item) => item['$patch'] === 'delete').map(keyOf));
  const merged = before.filter((item) => !removed.has(keyOf(item)));
  for (const item of plain) {
    const at = merged.findIndex((present) => keyOf(present) === keyOf(item));
    const present = merged[at];
    if (isJsonMap(present)) merged[at] = applyToMap(present, item, below);
    else merged.push(applyToMap({}, item, below));
  }
  return merged;
}

/**
 * What the order names stands in that order; what it does not name was unknown to who made the patch, and keeps its
 * place before whatever it stood before.
 */
function inOrder(
  merged: readonly unknown[],
  before: readonly unknown[],
  order: readonly unknown[],
  keyOf: (item: unknown) => unknown,
): readonly unknown[] {
  if (order.length === 0) return merged;
  const places = new Map(order.map((key, index) => [key, index]));
  const former = new Map(before.map((item, index) => [keyOf(item), index]));
  const placeOf = (item: unknown): number => places.get(keyOf(item)) ?? 0;
  const named = merged.filter((item) => places.has(keyOf(item))).sort((a, b) => placeOf(a) - placeOf(b));
  const unnamed = merged.filter((item) => !places.has(keyOf(item)));
  const result: unknown[] = [];
  for (const item of named) {
    const place = former.get(keyOf(item)) ?? -1;
    while (unnamed.length > 0 && (former.get(keyOf(unnamed[0])) ?? 0) < place) result.push(unnamed.shift());
    result.push(item);
  }
  return [...result, ...unnamed];
}

function listOf(patch: JsonMap, field: string): readonly unknown[] {
  const value = patch[field] ?? [];
  if (Array.isArray(value)) return value;
  throw new TubeletError('invalid', `${field} of a strategic merge patch is no list`);
}
