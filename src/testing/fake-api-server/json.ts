import { isJsonMap, type JsonMap } from '../../model/patch-schema.ts';

/** An object as the store keeps it: plain JSON, frozen, with its metadata. */
export interface Stored extends JsonMap {
  readonly metadata: Meta;
}

export interface Meta extends JsonMap {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly creationTimestamp: string;
  readonly generation?: number;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
}

/** What JSON would carry: no undefined fields, nothing shared with who gave it. */
export function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}

export function mapAt(value: JsonMap, field: string): JsonMap {
  const part = value[field];
  return isJsonMap(part) ? part : {};
}

/** The text at a path; '' where there is none, as selectors see it. */
export function textAt(value: JsonMap, ...path: readonly string[]): string {
  let part: unknown = value;
  for (const step of path) part = isJsonMap(part) ? part[step] : undefined;
  return ['string', 'number', 'boolean'].includes(typeof part) ? String(part) : '';
}

export function without(value: JsonMap, ...fields: readonly string[]): JsonMap {
  return Object.fromEntries(Object.entries(value).filter(([field]) => !fields.includes(field)));
}
