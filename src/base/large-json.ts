import { LineIndex, YamlError } from './yaml-error.ts';

/** Below this length the YAML reader is quick enough, and reports more: duplicate keys, for instance. */
const largeLength = 256 * 1024;

export function isLargeJson(text: string): boolean {
  return text.length > largeLength && /^\s*[[{]/.test(text.slice(0, 1_024));
}

/** A large text of JSON; nothing where it is none. Lines are computed when a message needs them. */
export function parseLargeJson(
  text: string,
  maxValues: number,
): { readonly value: unknown; lineOf(path: readonly (string | number)[]): number } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // It may be YAML in flow style; if it is not, the YAML reader reports what is wrong and where.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (hasMoreThan(maxValues, value)) {
    throw new YamlError(`the text has more than ${maxValues} values: split it into several files`, 1, 1);
  }
  let places: JsonOffsets | undefined;
  let lines: LineIndex | undefined;
  return {
    value,
    lineOf(path) {
      places ??= new JsonOffsets(text);
      lines ??= new LineIndex(text);
      return lines.lineAt(places.offsetOf(path));
    },
  };
}

/** Not recursive, because a text of brackets alone may be deeper than the stack. */
function hasMoreThan(max: number, root: unknown): boolean {
  const waiting: unknown[] = [root];
  let count = 0;
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== 'object' || value === null) continue;
    const inner: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
    count += inner.length;
    if (count > max) return true;
    for (const one of inner) if (typeof one === 'object' && one !== null) waiting.push(one);
  }
  return false;
}

interface JsonChild {
  /** Where its key begins, or the item itself. */
  readonly name: number;
  readonly value: number;
}

/** The offsets of keys and items in a text that is known to be JSON. Each collection is scanned once. */
class JsonOffsets {
  readonly #text: string;
  readonly #children = new Map<number, ReadonlyMap<string, JsonChild>>();

  constructor(text: string) {
    this.#text = text;
  }

  /** Of the key or item at a path, else of its nearest ancestor. */
  offsetOf(path: readonly (string | number)[]): number {
    let at = skipBlank(this.#text, 0);
    let found = at;
    for (const step of path) {
      const child = this.#childrenOf(at).get(String(step));
      if (child === undefined) return found;
      [found, at] = [child.name, child.value];
    }
    return found;
  }

  #childrenOf(at: number): ReadonlyMap<string, JsonChild> {
    const known = this.#children.get(at);
    if (known !== undefined) return known;
    const made = childrenOf(this.#text, at);
    this.#children.set(at, made);
    return made;
  }
}

function childrenOf(text: string, at: number): ReadonlyMap<string, JsonChild> {
  const children = new Map<string, JsonChild>();
  const isList = text[at] === '[';
  if (!isList && text[at] !== '{') return children;
  let position = skipBlank(text, at + 1);
  while (position < text.length && text[position] !== ']' && text[position] !== '}') {
    const name = position;
    let key = String(children.size);
    if (!isList) {
      const end = endOfString(text, position);
      key = JSON.parse(text.slice(position, end)) as string;
      position = skipBlank(text, skipBlank(text, end) + 1);
    }
    // Of two with one key the last one counts.
    children.set(key, { name, value: position });
    position = skipBlank(text, endOfValue(text, position));
    if (text[position] === ',') position = skipBlank(text, position + 1);
  }
  return children;
}

function skipBlank(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++;
  return at;
}

function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function endOfValue(text: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const letter = text[at];
    if (letter === '"') {
      at = endOfString(text, at);
      if (depth === 0) return at;
      continue;
    }
    if (letter === '{' || letter === '[') depth++;
    else if (letter === '}' || letter === ']') {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (letter === ',' && depth === 0) return at;
    at++;
  }
  return at;
}
