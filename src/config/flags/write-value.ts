import type { FlagValue } from './parse.ts';
import type { FlagType, FlagValues } from './spec.ts';

/** Formats each type of flag: the text that parses to the value again. */
const writers: { readonly [T in FlagType]: (value: FlagValues[T]) => string } = {
  bool: String,
  string: (value) => value,
  ip: (value) => value,
  int: String,
  int32: String,
  level: String,
  duration: (value) => value.toString(),
  // An unset size is the bare flag's default.
  quantity: (value) => (value.isZero() ? '' : value.toString()),
  strings: (value) => value.map(listItem).join(','),
  map: (value) => pairs(value, '='),
  pairMap: (value) => pairs(value, '='),
  angleMap: (value) => pairs(value, '<'),
  labels: (value) => pairs(value, '='),
  boolMap: (value) => pairs(value, '='),
  multimap: (value) =>
    sorted(value)
      .flatMap(([name, items]) => items.map((item) => `${name}:${item}`))
      .join(','),
  taints: (value) => value.map(({ key, value: text, effect }) => `${key}=${text ?? ''}:${effect}`).join(','),
  reservedMemory: (value) => value.map(({ numaNode, limits }) => `${numaNode}:${pairs(limits, '=')}`).join(';'),
  vmodule: (value) => value.map(({ filePattern, verbosity }) => `${filePattern}=${verbosity}`).join(','),
  version: (value) => value,
};

export function writeFlag(type: FlagType, value: FlagValue): string {
  // The table ties the type of a flag to the type of its value; the map cannot express that.
  return (writers[type] as (value: FlagValue) => string)(value);
}

function listItem(item: string): string {
  return /[",]/.test(item) ? `"${item.replaceAll('"', '""')}"` : item;
}

function pairs(value: Readonly<Record<string, { toString(): string }>>, separator: string): string {
  return sorted(value)
    .map(([name, item]) => `${name}${separator}${item.toString()}`)
    .join(',');
}

function sorted<T>(value: Readonly<Record<string, T>>): readonly (readonly [string, T])[] {
  return Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
}
