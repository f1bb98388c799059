import { EVENT_ID, getScalarValue, SCALAR_STYLE, type Event, type ScalarEvent } from 'js-yaml';
import { mergeKey, resolvePlain, type YamlScalar } from './yaml-scalar.ts';
import type { LineIndex } from './yaml-error.ts';

/** A value with the lines of what is in it. Aliases share nodes, so nodes are never changed once complete. */
export interface YamlNode {
  readonly value: unknown;
  readonly line: number;
  /** Nodes in it and itself, counted as if each alias were written out. */
  readonly size: number;
  /** By key, or by index for lists; absent for scalars. */
  readonly children?: ReadonlyMap<string, YamlChild>;
}

export interface YamlChild {
  /** Of the key, or of the first letter of the item. */
  readonly line: number;
  readonly node: YamlNode;
}

type Children = Map<string, YamlChild>;
type OnDuplicateKey = (key: string, line: number) => void;

/** The maximum of nodes that the aliases of a document expand to: far above any real manifest, and cheap to read. */
const maxAliasedSize = 200_000;

export function composeDocuments(
  text: string,
  events: readonly Event[],
  lines: LineIndex,
  onDuplicateKey?: OnDuplicateKey,
): YamlNode[] {
  const documents: YamlNode[] = [];
  let at = 0;
  while (at < events.length) {
    // Anchors live as long as their document.
    const composer = new Composer(text, events, lines, at + 1, onDuplicateKey);
    documents.push(composer.compose());
    at = composer.position + 1;
  }
  return documents;
}

class Composer {
  readonly #text: string;
  readonly #events: readonly Event[];
  readonly #lines: LineIndex;
  readonly #onDuplicateKey: OnDuplicateKey | undefined;
  /** A node being built is there as `undefined`: an alias to it would make it contain itself. */
  readonly #anchors = new Map<string, YamlNode | undefined>();
  #offset = 0;
  #aliasedSize = 0;
  position: number;

  constructor(
    text: string,
    events: readonly Event[],
    lines: LineIndex,
    position: number,
    onDuplicateKey: OnDuplicateKey | undefined,
  ) {
    this.#text = text;
    this.#events = events;
    this.#lines = lines;
    this.position = position;
    this.#onDuplicateKey = onDuplicateKey;
  }

  /** Reads the node at the present position and steps behind it. */
  compose(): YamlNode {
    const event = this.#events[this.position];
    this.position++;
    if (event === undefined || event.type === EVENT_ID.POP || event.type === EVENT_ID.DOCUMENT) {
      // A document that ends at once has no content; the position goes back to its end.
      this.position--;
      return { value: null, line: this.#line(), size: 1 };
    }
    if (event.type === EVENT_ID.ALIAS) return this.#alias(event.anchorStart, event.anchorEnd);
    this.#moveTo(startOf(event));
    const anchor = event.anchorStart === -1 ? undefined : this.#text.slice(event.anchorStart, event.anchorEnd);
    if (anchor !== undefined) this.#anchors.set(anchor, undefined);
    const node = this.#content(event);
    if (anchor !== undefined) this.#anchors.set(anchor, node);
    return node;
  }

  #content(event: Exclude<Event, { type: 1 | 5 | 6 }>): YamlNode {
    if (event.type === EVENT_ID.SCALAR) return this.#scalarNode(event);
    return event.type === EVENT_ID.SEQUENCE ? this.#sequence() : this.#mapping();
  }

  #alias(start: number, end: number): YamlNode {
    this.#moveTo(start);
    const name = this.#text.slice(start, end);
    const node = this.#anchors.get(name);
    if (node !== undefined) {
      this.#aliasedSize += node.size;
      if (this.#aliasedSize > maxAliasedSize)
        throw this.#fault('the aliases of the document stand for too many values');
      return node;
    }
    const reason = this.#anchors.has(name) ? `anchor '${name}' contains itself` : `unknown anchor '${name}'`;
    throw this.#fault(reason);
  }

  #scalarNode(event: ScalarEvent): YamlNode {
    const value = this.#scalar(event);
    if (typeof value === 'number' && !Number.isFinite(value)) throw this.#fault(`${value} is no number JSON can carry`);
    return { value: value === mergeKey ? '<<' : value, line: this.#line(), size: 1 };
  }

  #sequence(): YamlNode {
    const line = this.#line();
    const value: unknown[] = [];
    const children: Children = new Map();
    let size = 1;
    while (!this.#atEnd()) {
      this.#moveTo(startOf(this.#events[this.position]));
      const itemLine = this.#line();
      const node = this.compose();
      children.set(String(value.length), { line: itemLine, node });
      value.push(node.value);
      size += node.size;
    }
    return { value, line, size, children };
  }

  #mapping(): YamlNode {
    const line = this.#line();
    const own: Children = new Map();
    const merged: YamlNode[] = [];
    while (!this.#atEnd()) {
      const key = this.#key();
      const keyLine = this.#line();
      const keyOffset = this.#offset;
      const node = this.compose();
      if (key === mergeKey) {
        merged.push(...this.#mergeSources(node));
        continue;
      }
      if (own.has(key)) {
        if (this.#onDuplicateKey === undefined) throw this.#lines.errorAt(keyOffset, `key "${key}" is already set`);
        this.#onDuplicateKey(key, keyLine);
      }
      own.set(key, { line: keyLine, node });
    }
    return mappingNode(line, own, merged);
  }

  /** Keys become text as Go prints them; what has no such text cannot be a key in JSON. */
  #key(): string | typeof mergeKey {
    const event = this.#events[this.position];
    if (event?.type === EVENT_ID.SCALAR) {
      this.#moveTo(event.valueStart);
      const scalar = this.#scalar(event);
      if (scalar === mergeKey) {
        this.position++;
        return mergeKey;
      }
    }
    const { value } = this.compose();
    if (typeof value === 'string') return value;
    if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
    throw this.#fault(`a key must be text, a number or a boolean, not ${value === null ? 'null' : 'a collection'}`);
  }

  #mergeSources(node: YamlNode): readonly YamlNode[] {
    const sources = Array.isArray(node.value) ? [...(node.children ?? [])].map(([, child]) => child.node) : [node];
    if (sources.every((source) => source.children !== undefined && !Array.isArray(source.value))) return sources;
    throw this.#fault('a merge (<<) takes a mapping or a list of mappings');
  }

  #scalar(event: ScalarEvent): YamlScalar {
    const text = getScalarValue(this.#text, event);
    const tag = event.tagStart === -1 ? undefined : this.#text.slice(event.tagStart, event.tagEnd);
    if (tag === undefined) return event.style === SCALAR_STYLE.PLAIN ? resolvePlain(text) : text;
    switch (tag.replace(/^!<tag:yaml.org,2002:(.*)>$/, '!!$1')) {
      case '!!binary':
        return Buffer.from(text, 'base64').toString('utf8');
      case '!!int':
      case '!!float':
        return this.#typed(text, tag, 'number', 'bigint');
      case '!!bool':
        return this.#typed(text, tag, 'boolean');
      case '!!null':
        return this.#typed(text, tag, 'object');
      default:
        return text;
    }
  }

  #typed(text: string, tag: string, ...types: readonly string[]): YamlScalar {
    const value = resolvePlain(text);
    if (types.includes(typeof value)) return value;
    throw this.#fault(`cannot read ${JSON.stringify(text)} as ${tag}`);
  }

  /** Steps over the end of a collection if it comes next. */
  #atEnd(): boolean {
    if (this.#events[this.position]?.type !== EVENT_ID.POP) return false;
    this.position++;
    return true;
  }

  /** Empty scalars have no place of their own; they stay at the place last seen. */
  #moveTo(offset: number): void {
    if (offset >= 0) this.#offset = offset;
  }

  #line(): number {
    return this.#lines.lineAt(this.#offset);
  }

  #fault(reason: string): Error {
    return this.#lines.errorAt(this.#offset, reason);
  }
}

/** Where a node begins; -1 for one that has no letters. */
function startOf(event: Event | undefined): number {
  if (event?.type === EVENT_ID.SCALAR) return event.valueStart;
  if (event?.type === EVENT_ID.SEQUENCE || event?.type === EVENT_ID.MAPPING) return event.start;
  return event?.type === EVENT_ID.ALIAS ? event.anchorStart : -1;
}

/** Own keys first; among merged mappings the earlier wins. */
function mappingNode(line: number, own: Children, merged: readonly YamlNode[]): YamlNode {
  const children: Children = new Map(own);
  for (const source of merged) {
    for (const [key, child] of source.children ?? []) if (!children.has(key)) children.set(key, child);
  }
  const value: Record<string, unknown> = {};
  let size = 1;
  for (const [key, { node }] of children) {
    size += node.size;
    // Assignment to __proto__ would change the object instead of its content.
    if (key === '__proto__') Object.defineProperty(value, key, { value: node.value, enumerable: true });
    else value[key] = node.value;
  }
  return { value, line, size, children };
}
