import { ownValue } from '../base/own-value.ts';
import { mergeKeys, mergeSets, mergeTypes } from '../gen/kubernetes/fields.ts';

/** How a strategic merge patch treats a list: items found by a key, a set of plain values, or one value as a whole. */
type ListRule =
  | { readonly kind: 'keyed'; readonly key: string }
  | { readonly kind: 'set' }
  | { readonly kind: 'atomic' };

type Table<V> = Readonly<Record<string, V | undefined>>;
const keys: Table<Table<string>> = mergeKeys;
const sets: Table<readonly string[]> = mergeSets;
const types: Table<Table<string>> = mergeTypes;

/** `typeName` is that of the object which has the field; undefined below types without a table, where lists are replaced. */
export function listRule(typeName: string | undefined, field: string): ListRule {
  if (typeName === undefined) return { kind: 'atomic' };
  const key = ownValue(keys[typeName], field);
  if (key !== undefined) return { kind: 'keyed', key };
  return sets[typeName]?.includes(field) === true ? { kind: 'set' } : { kind: 'atomic' };
}

/** The type of a field's object, or of the items of its list. */
export function typeBelow(typeName: string | undefined, field: string): string | undefined {
  return typeName === undefined ? undefined : ownValue(types[typeName], field);
}

export type JsonMap = Readonly<Record<string, unknown>>;

export function isJsonMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A list that can be matched by key: each item is an object with a key of its own. */
export function isKeyed(list: readonly unknown[], key: string): list is readonly JsonMap[] {
  const found = list.map((item) => (isJsonMap(item) ? item[key] : undefined));
  return found.every((value) => typeof value === 'string' || typeof value === 'number') && isUnique(found);
}

export function isUnique(values: readonly unknown[]): boolean {
  return new Set(values).size === values.length;
}

export const setElementOrder = '$setElementOrder/';
export const deleteFromPrimitiveList = '$deleteFromPrimitiveList/';
