import { normalize } from 'node:path';
import type { Origin } from '../origin.ts';
import { branchOf, leaf, nodeAt, withNode, type Branch } from '../sourced-tree.ts';
import type { FlagValue, ParsedFlags } from './parse.ts';
import type { FlagSpec, FlagValues } from './spec.ts';
import { flagTable, type OwnFlag } from './table.ts';
import { flagReaders } from './values.ts';

type Camel<S extends string> = S extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S;
type Kept = Exclude<OwnFlag, { readonly name: 'help' | 'version' }>;

/** Settings without a configuration field, by flag name in camel case. */
export type KubeletFlags = { readonly [F in Kept as Camel<F['name']>]: FlagValues[F['type']] };

export function camelCase(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

export function ownFlags(values: ParsedFlags['values']): KubeletFlags {
  const own = flagTable.filter(({ field, name }) => field === undefined && name !== 'help' && name !== 'version');
  const flags = Object.fromEntries(
    own.map((spec) => [camelCase(spec.name), values.get(spec.name) ?? defaultOf(spec)]),
  ) as unknown as KubeletFlags;
  return { ...flags, rootDir: cleanPath(flags.rootDir) };
}

/** Without dots and needless slashes: paths of volumes are compared with what the kernel and drivers name. */
function cleanPath(path: string): string {
  const plain = normalize(path);
  return plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain;
}

/** The value of a flag that is not on the command line. */
function defaultOf(spec: FlagSpec): FlagValue {
  const read = flagReaders[spec.type].read as (text: string, before: undefined) => FlagValue;
  return read(spec.default, undefined);
}

/**
 * Merges the given flags into a configuration. A map flag replaces the whole map, except for feature gates: those are
 * merged by name, so that a flag need not repeat the file.
 */
export function withFlags(tree: Branch, values: ParsedFlags['values']): Branch {
  let result = tree;
  for (const spec of flagTable) {
    const value = values.get(spec.name);
    if (spec.field === undefined || value === undefined) continue;
    // Either the flag or the field can enable it; the flag cannot disable what the field enables.
    if (spec.name === 'seccomp-default' && value !== true) continue;
    const path = spec.field.split('.');
    const origin: Origin = { kind: 'flag', name: spec.name };
    const node = isRecord(value) ? branchOf(value, origin) : leaf(value, origin);
    const present = nodeAt(result, path);
    if (spec.name === 'feature-gates' && node.kind === 'branch' && present?.kind === 'branch') {
      const merged = { ...node, entries: new Map([...present.entries, ...node.entries]) };
      result = withNode(result, path, merged);
    } else {
      result = withNode(result, path, node);
    }
  }
  return result;
}

function isRecord(value: FlagValue): value is FlagValues['map'] | FlagValues['boolMap'] | FlagValues['multimap'] {
  return typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype;
}
