import { Duration } from '../base/duration.ts';
import { Quantity } from '../model/quantity.ts';
import {
  isListType,
  isMapType,
  isObjectType,
  isZero,
  type Field,
  type Fields,
  type FieldType,
} from './schema/field-types.ts';
import { kubeletFields, type KubeletConfiguration } from './schema/fields.ts';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** The configuration as the v1beta1 API writes it: what `/configz` serves under `kubeletconfig`. */
export function toV1beta1(config: KubeletConfiguration): JsonObject {
  return printObject(kubeletFields, config);
}

function printObject(fields: Fields, value: object): JsonObject {
  const values = value as Readonly<Record<string, unknown>>;
  const result: Record<string, Json> = {};
  for (const [name, field] of Object.entries(fields)) {
    const item = values[name];
    if (item !== undefined && isShown(field, item)) result[name] = printValue(field.type, item);
  }
  return result;
}

/** Zero values of plain fields are left out, except where the API has structures: objects, durations, quantities. */
function isShown(field: Field, value: unknown): boolean {
  if (field.presence !== 'plain' || isObjectType(field.type)) return true;
  return value instanceof Duration || value instanceof Quantity || !isZero(value);
}

function printValue(type: FieldType, value: unknown): Json {
  if (isObjectType(type)) return printObject(type.object, value as object);
  if (isListType(type)) return (value as readonly unknown[]).map((item) => printValue(type.list, item));
  if (isMapType(type)) {
    const entries = Object.entries(value as object).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(entries.map(([key, item]) => [key, printValue(type.map, item)]));
  }
  return value instanceof Duration || value instanceof Quantity ? value.toString() : (value as Json);
}
