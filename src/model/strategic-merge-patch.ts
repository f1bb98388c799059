import { ownValue } from '../base/own-value.ts';
import {
  deleteFromPrimitiveList,
  isJsonMap,
  isKeyed,
  isUnique,
  listRule,
  setElementOrder,
  typeBelow,
  type JsonMap,
} from './patch-schema.ts';

interface PatchOptions {
  /**
   * Lists to send as a whole when they differ, by their dotted path, such as `status.addresses`: for those whose items
   * may share a key with items that another writer added.
   */
  readonly replaceLists?: readonly string[];
}

/**
 * The strategic merge patch that makes `modified` of `original`; `{}` when there is nothing to do. Fields that are
 * undefined or null count as not there. What the API server has beyond `original` (foreign conditions, for instance)
 * stays: only what differs between the two is named.
 */
export function createStrategicMergePatch(
  original: object,
  modified: object,
  typeName: string,
  options: PatchOptions = {},
): JsonMap {
  const whole = new Set(options.replaceLists);
  return diffMaps(original as JsonMap, modified as JsonMap, { typeName, path: '', whole });
}

interface PatchPath {
  readonly typeName: string | undefined;
  readonly path: string;
  readonly whole: ReadonlySet<string>;
}

type Patch = Record<string, unknown>;

function diffMaps(original: JsonMap, modified: JsonMap, place: PatchPath): Patch {
  const patch: Patch = {};
  for (const [field, before] of Object.entries(original)) {
    if (isThere(before) && !isThere(ownValue(modified, field))) patch[field] = null;
  }
  for (const [field, after] of Object.entries(modified)) {
    const before = ownValue(original, field);
    if (!isThere(after) || isSameJson(before, after)) continue;
    const path = place.path === '' ? field : `${place.path}.${field}`;
    const below = { ...place, typeName: typeBelow(place.typeName, field), path };
    if (isJsonMap(before) && isJsonMap(after)) patch[field] = diffMaps(before, after, below);
    else if (Array.isArray(before) && Array.isArray(after)) diffLists(patch, field, before, after, place, below);
    else patch[field] = after;
  }
  return patch;
}

function diffLists(
  patch: Patch,
  field: string,
  before: readonly unknown[],
  after: readonly unknown[],
  { typeName, whole }: PatchPath,
  below: PatchPath,
): void {
  const rule = listRule(typeName, field);
  if (rule.kind === 'atomic') patch[field] = after;
  else if (rule.kind === 'set') diffSets(patch, field, before, after);
  else if (whole.has(below.path) || !isKeyed(before, rule.key) || !isKeyed(after, rule.key)) {
    patch[field] = [...after, { $patch: 'replace' }];
  } else diffKeyed(patch, field, before, after, rule.key, below);
}

function diffKeyed(
  patch: Patch,
  field: string,
  before: readonly JsonMap[],
  after: readonly JsonMap[],
  key: string,
  below: PatchPath,
): void {
  const old = new Map(before.map((item) => [item[key], item]));
  const items: Patch[] = [];
  for (const item of after) {
    const previous = old.get(item[key]);
    old.delete(item[key]);
    if (previous === undefined) items.push(item);
    else if (!isSameJson(previous, item)) items.push({ ...diffMaps(previous, item, below), [key]: item[key] });
  }
  for (const value of old.keys()) items.push({ $patch: 'delete', [key]: value });
  // The order is part of every change: the server may hold items that we do not know.
  if (after.length > 0) patch[`${setElementOrder}${field}`] = after.map((item) => ({ [key]: item[key] }));
  if (items.length > 0) patch[field] = items;
}

function diffSets(patch: Patch, field: string, before: readonly unknown[], after: readonly unknown[]): void {
  if (!isUnique(after)) {
    patch[field] = after;
    return;
  }
  const added = after.filter((value) => !before.includes(value));
  const removed = before.filter((value) => !after.includes(value));
  if (after.length > 0) patch[`${setElementOrder}${field}`] = after;
  if (removed.length > 0) patch[`${deleteFromPrimitiveList}${field}`] = removed;
  if (added.length > 0) patch[field] = added;
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Equal as JSON, where a field that is undefined or null is none. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => isSameJson(item, b[index]));
  }
  if (!isJsonMap(a) || !isJsonMap(b)) return a === b;
  const fields = Object.keys(a).filter((field) => isThere(a[field]));
  if (fields.length !== Object.keys(b).filter((field) => isThere(b[field])).length) return false;
  return fields.every((field) => isSameJson(a[field], ownValue(b, field)));
}
