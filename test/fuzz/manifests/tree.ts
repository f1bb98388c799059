/** A scalar that is written as it is: what no value of this language can say. */
export class Raw {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A mapping in which a key may stand twice. */
export class Pairs {
  readonly entries: [key: string, value: Tree][];

  constructor(entries: [key: string, value: Tree][]) {
    this.entries = entries;
  }
}

export interface Mapping {
  [key: string]: Tree;
}
export type Tree = string | number | boolean | null | undefined | Raw | Pairs | Tree[] | Mapping;

type Style = 'json' | 'block' | 'flow';

export const isMapping = (tree: Tree): tree is Mapping =>
  typeof tree === 'object' &&
  tree !== null &&
  !Array.isArray(tree) &&
  !(tree instanceof Raw) &&
  !(tree instanceof Pairs);

/** A mapping with an entry of any name, `__proto__` among them. */
export function withKey(mapping: Mapping, key: string, value: Tree): void {
  Object.defineProperty(mapping, key, { value, enumerable: true, configurable: true, writable: true });
}

/** The text of a manifest; what is nested deeper than any reader goes is written too. */
export function textOf(tree: Tree, style: Style): string {
  if (style !== 'block') return flow(tree, style);
  const lines: string[] = [];
  block(tree, 0, lines);
  return `${lines.join('\n')}\n`;
}

const entriesOf = (tree: Mapping | Pairs): readonly [string, Tree][] =>
  (tree instanceof Pairs ? tree.entries : Object.entries(tree)).filter(([, value]) => value !== undefined);

function scalar(tree: Tree): string {
  if (tree instanceof Raw) return tree.text;
  if (typeof tree === 'number' && !Number.isFinite(tree)) return Number.isNaN(tree) ? '.nan' : '.inf';
  return JSON.stringify(tree ?? null);
}

function flow(tree: Tree, style: Style): string {
  if (Array.isArray(tree)) return `[${tree.map((item) => flow(item, style)).join(', ')}]`;
  if (!isMapping(tree) && !(tree instanceof Pairs)) return scalar(tree);
  const entries = entriesOf(tree).map(([key, value]) => `${keyText(key, style)}: ${flow(value, style)}`);
  return `{${entries.join(', ')}}`;
}

const keyText = (key: string, style: Style): string =>
  style !== 'json' && /^[A-Za-z_][\w/-]*$/.test(key) ? key : JSON.stringify(key);

function block(tree: Tree, depth: number, lines: string[]): void {
  const indent = '  '.repeat(depth);
  const isList = Array.isArray(tree);
  if (!isList && !isMapping(tree) && !(tree instanceof Pairs)) {
    lines.push(indent + scalar(tree));
    return;
  }
  const entries = isList ? tree.map((item) => ['', item] as const) : entriesOf(tree);
  if (entries.length === 0) lines.push(`${indent}${isList ? '[]' : '{}'}`);
  for (const [key, value] of entries) {
    const head = `${indent}${isList ? '-' : `${keyText(key, 'block')}:`}`;
    if (hasParts(value)) {
      lines.push(head);
      block(value, depth + 1, lines);
    } else lines.push(`${head} ${flow(value, 'flow')}`);
  }
}

const hasParts = (tree: Tree): boolean =>
  Array.isArray(tree) ? tree.length > 0 : tree instanceof Pairs || (isMapping(tree) && Object.keys(tree).length > 0);

/** As JSON can carry it: what an API server has of it. */
export function plainOf(tree: Tree): unknown {
  if (tree instanceof Raw) return tree.text;
  if (Array.isArray(tree)) return tree.map(plainOf);
  if (!isMapping(tree) && !(tree instanceof Pairs))
    return typeof tree === 'number' && !Number.isFinite(tree) ? 0 : tree;
  return Object.fromEntries(entriesOf(tree).map(([key, value]) => [key, plainOf(value)]));
}
