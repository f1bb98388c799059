/**
 * The own value under a key chosen by a tenant, a client or a plugin. Every object inherits `constructor`, `toString` and
 * others, and a label or a resource may have such a name.
 */
export function ownValue<Value>(
  map: Readonly<Record<string, Value>> | undefined,
  key: string | undefined,
): Value | undefined {
  return map !== undefined && key !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
}
