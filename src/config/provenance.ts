import { byDefault, type Origin } from './origin.ts';
import { leavesOf, nodeAt, type Branch, type Path, type SourcedNode } from './sourced-tree.ts';

/** Where every value of the effective configuration came from. */
export interface Provenance {
  /** Origin of a field, or of one entry of a map field; lists have one origin as a whole. */
  of(path: Path): Origin;
  /** The values that are not defaults. */
  readonly explicit: readonly { readonly path: Path; readonly origin: Origin }[];
  /** The flags on the command line, by name. */
  readonly flags: readonly string[];
}

export function provenanceOf(tree: Branch, flags: readonly string[]): Provenance {
  const explicit = [...leavesOf(tree)]
    .filter(([, { origin }]) => origin.kind !== 'default')
    .map(([path, { origin }]) => ({ path, origin }));
  return { of: (path) => nodeAt(tree, path)?.origin ?? byDefault, explicit, flags };
}

/** The origin of a dotted field name. Map keys may hold dots themselves, so the longest key that fits is followed. */
export function originOfField(tree: SourcedNode, field: string): Origin {
  if (tree.kind === 'leaf' || field === '') return tree.origin;
  let best: string | undefined;
  for (const key of tree.entries.keys()) {
    const fits = field === key || field.startsWith(`${key}.`);
    if (fits && key.length > (best?.length ?? 0)) best = key;
  }
  const child = best === undefined ? undefined : tree.entries.get(best);
  return best === undefined || child === undefined ? tree.origin : originOfField(child, field.slice(best.length + 1));
}
