import type { Branch, SourcedNode } from './sourced-tree.ts';
import { isMapType, isObjectType, zeroOf, type Field, type Fields } from './schema/field-types.ts';
import { kubeletFields, type KubeletConfiguration } from './schema/fields.ts';

/** The plain object of a tree: it has every field of the table, missing ones with zero or `undefined`. */
export function buildObject(fields: Fields, tree: Branch): Readonly<Record<string, unknown>> {
  const result: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) result[name] = buildField(field, tree.entries.get(name));
  return result;
}

export function buildConfiguration(tree: Branch): KubeletConfiguration {
  const config = buildObject(kubeletFields, tree) as unknown as KubeletConfiguration;
  // Every negative limit means "none"; one spelling is enough for the readers.
  return config.podPidsLimit < -1 ? { ...config, podPidsLimit: -1 } : config;
}

function buildField(field: Field, node: SourcedNode | undefined): unknown {
  const { type, presence } = field;
  if (node?.kind === 'leaf') return node.value ?? (presence === 'optional' ? undefined : zeroOf(type));
  if (node === undefined && presence === 'optional') return undefined;
  if (isObjectType(type))
    return buildObject(type.object, node ?? { kind: 'branch', entries: new Map(), origin: { kind: 'default' } });
  if (node !== undefined && isMapType(type)) {
    return Object.fromEntries([...node.entries].map(([key, entry]) => [key, entry.kind === 'leaf' ? entry.value : {}]));
  }
  return zeroOf(type);
}
