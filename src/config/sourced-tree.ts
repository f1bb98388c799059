import type { Origin } from './origin.ts';

/**
 * A configuration during merging: every value carries its origin, so that provenance needs no
 * bookkeeping of its own. Trees are immutable; each step makes a new one.
 */
interface Leaf {
  readonly kind: 'leaf';
  /** A decoded value; `null` means that a patch removes the value. */
  readonly value: unknown;
  readonly origin: Origin;
}

export interface Branch {
  readonly kind: 'branch';
  readonly entries: ReadonlyMap<string, SourcedNode>;
  readonly origin: Origin;
}

export type SourcedNode = Leaf | Branch;
export type Path = readonly string[];

export function leaf(value: unknown, origin: Origin): Leaf {
  return { kind: 'leaf', value, origin };
}

export function branch(origin: Origin, entries: Iterable<readonly [string, SourcedNode]> = []): Branch {
  return { kind: 'branch', entries: new Map(entries), origin };
}

/** A branch with one leaf for each key of a record. */
export function branchOf(record: Readonly<Record<string, unknown>>, origin: Origin): Branch {
  return branch(
    origin,
    Object.entries(record).map(([key, value]) => [key, leaf(value, origin)] as const),
  );
}

export function nodeAt(tree: SourcedNode, path: Path): SourcedNode | undefined {
  let node: SourcedNode | undefined = tree;
  for (const step of path) node = node?.kind === 'branch' ? node.entries.get(step) : undefined;
  return node;
}

/** The tree with `node` at `path`; missing branches on the way are made. */
export function withNode(tree: Branch, path: Path, node: SourcedNode): Branch {
  const [first, ...rest] = path;
  if (first === undefined) return tree;
  const entries = new Map(tree.entries);
  const child = tree.entries.get(first);
  const parent = child?.kind === 'branch' ? child : branch(node.origin);
  entries.set(first, rest.length === 0 ? node : withNode(parent, rest, node));
  return { ...tree, entries };
}

/** RFC 7386: branches are merged key by key, anything else replaces, `null` removes. */
export function mergePatch(base: Branch, patch: Branch): Branch {
  const entries = new Map(base.entries);
  for (const [key, change] of patch.entries) {
    const present = entries.get(key);
    if (change.kind === 'branch') {
      entries.set(key, mergePatch(present?.kind === 'branch' ? present : branch(change.origin), change));
    } else if (change.value === null) {
      entries.delete(key);
    } else {
      entries.set(key, change);
    }
  }
  return { ...base, entries };
}

/** All leaves with their paths, in order. */
export function* leavesOf(tree: SourcedNode, path: Path = []): Generator<readonly [Path, Leaf]> {
  if (tree.kind === 'leaf') yield [path, tree];
  else for (const [key, node] of tree.entries) yield* leavesOf(node, [...path, key]);
}
