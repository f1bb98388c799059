import { nearest } from '../base/nearest.ts';
import { fieldTable } from '../gen/kubernetes/fields.ts';
import type { ConfigMap, Pod, PodList, Secret, Service } from '../gen/kubernetes/types.ts';
import { scalarRule } from './decode-scalar.ts';
import { formatPath, type FieldPath } from './validation/field-path.ts';

/** What a decoder noticed. A warning costs one unknown field, an error the object. */
export interface Problem {
  readonly severity: 'warning' | 'error';
  readonly path: FieldPath;
  readonly line: number;
  readonly message: string;
}

export type DecodableType = keyof typeof fieldTable;
interface KnownTypes {
  readonly Pod: Pod;
  readonly PodList: PodList;
  readonly ConfigMap: ConfigMap;
  readonly Secret: Secret;
  readonly Service: Service;
}
type DecodedObject<Name extends DecodableType> = Name extends keyof KnownTypes
  ? KnownTypes[Name]
  : Readonly<Record<string, unknown>>;

interface Decoded<Name extends DecodableType> {
  readonly object: DecodedObject<Name>;
  readonly problems: readonly Problem[];
}

type LineOf = (path: FieldPath) => number;

/** A text of few bytes can unfold into a huge tree through YAML aliases; no real object comes near this. */
const maxNodes = 1_000_000;
/** Further problems of one object are not reported: a reader learns nothing new from them. */
const maxProblems = 100;
/** Fields of a pod below which a password may stand. */
const confidential = new Set<string | number>(['env', 'command', 'args', 'httpHeaders']);

/**
 * Reads plain data as a Kubernetes object, led by the field table. The result holds only known fields and all the
 * required ones (at Go's zero value where they were missing), so it is what its type says. Never throws.
 */
export function decodeObject<Name extends DecodableType>(
  typeName: Name,
  value: unknown,
  lineOf: LineOf,
): Decoded<Name> {
  const decoder = new Decoder(lineOf, typeName === 'Secret' || typeName === 'ConfigMap');
  const object = decoder.object(typeName, value, []);
  return { object: object as DecodedObject<Name>, problems: decoder.problems };
}

class Decoder {
  readonly problems: Problem[] = [];
  readonly #lineOf: LineOf;
  /** Problems end up in logs, where what is confidential must not be. */
  readonly #hideValues: boolean;
  #nodes = 0;

  constructor(lineOf: LineOf, hideValues: boolean) {
    this.#lineOf = lineOf;
    this.#hideValues = hideValues;
  }

  object(typeName: DecodableType, value: unknown, path: FieldPath): Record<string, unknown> {
    const fields: Readonly<Record<string, string>> = fieldTable[typeName];
    const given = this.#mapping(value, path);
    for (const key of Object.keys(given)) {
      if (!Object.hasOwn(fields, key)) this.#unknownField(key, Object.keys(fields), [...path, key]);
    }
    const result: Record<string, unknown> = {};
    for (const [name, type] of Object.entries(fields)) {
      const required = type.endsWith('!');
      const bare = required ? type.slice(0, -1) : type;
      const fieldValue = Object.hasOwn(given, name) ? given[name] : undefined;
      const decoded =
        fieldValue === undefined || fieldValue === null ? undefined : this.#value(bare, fieldValue, [...path, name]);
      if (decoded !== undefined) result[name] = decoded;
      else if (required) result[name] = zeroOf(bare);
    }
    return result;
  }

  #value(type: string, value: unknown, path: FieldPath): unknown {
    this.#nodes++;
    if (this.#nodes > maxNodes) {
      if (this.#nodes === maxNodes + 1) this.#error(path, `more than ${maxNodes} values in one object`);
      return undefined;
    }
    if (type.startsWith('[]')) return this.#list(type.slice(2), value, path);
    if (type.startsWith('{}')) return this.#map(type.slice(2), value, path);
    if (isDecodable(type)) {
      if (!isMapping(value)) return this.#wrongType(path, 'an object', value);
      return this.object(type, value, path);
    }
    const rule = scalarRule(type);
    if (rule === undefined) return undefined;
    const decoded = rule.read(value);
    if (decoded !== undefined) return decoded;
    // A whole line, or a whole text, in place of an object may be anything.
    const isHidden = this.#hideValues || type === 'object' || path.some((part) => confidential.has(part));
    return this.#wrongType(path, rule.expected, value, isHidden);
  }

  #list(itemType: string, value: unknown, path: FieldPath): unknown {
    if (!Array.isArray(value)) return this.#wrongType(path, 'a list', value);
    return value.map((item: unknown, index) => this.#item(itemType, item, [...path, index]));
  }

  #map(itemType: string, value: unknown, path: FieldPath): unknown {
    if (!isMapping(value)) return this.#wrongType(path, 'a map', value);
    // fromEntries defines own properties, so that a key such as __proto__ stays a mere key.
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, this.#item(itemType, item, [...path, key])]),
    );
  }

  /** An item that is null or of a wrong type keeps its place at the zero value, as in Go. */
  #item(type: string, value: unknown, path: FieldPath): unknown {
    if (value === null || value === undefined) return zeroOf(type);
    return this.#value(type, value, path) ?? zeroOf(type);
  }

  #mapping(value: unknown, path: FieldPath): Readonly<Record<string, unknown>> {
    if (isMapping(value)) return value;
    if (value !== null && value !== undefined) this.#wrongType(path, 'an object', value);
    return {};
  }

  #unknownField(key: string, known: readonly string[], path: FieldPath): void {
    // Finding the nearest name costs most, and there may be a hundred thousand of them.
    if (this.problems.length >= maxProblems) return;
    const suggestion = nearest(key, known);
    const hint = suggestion === undefined ? '' : `; did you mean "${suggestion}"?`;
    this.#note('warning', path, `${formatPath(path)}: unknown field, ignored${hint}`);
  }

  #wrongType(path: FieldPath, expected: string, value: unknown, isHidden = true): undefined {
    this.#error(path, `expected ${expected}, got ${describe(value, isHidden)}`);
  }

  #error(path: FieldPath, text: string): void {
    this.#note('error', path, path.length === 0 ? text : `${formatPath(path)}: ${text}`);
  }

  #note(severity: Problem['severity'], path: FieldPath, message: string): void {
    // An error must always be seen, even behind a hundred warnings: it decides about the object.
    const full = this.problems.length >= maxProblems;
    if (full && (severity === 'warning' || this.problems.some((problem) => problem.severity === 'error'))) return;
    this.problems.push({ severity, path, line: this.#lineOf(path), message });
  }
}

function isDecodable(type: string): type is DecodableType {
  return Object.hasOwn(fieldTable, type);
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function zeroOf(type: string): unknown {
  if (type.startsWith('[]')) return [];
  if (type.startsWith('{}')) return {};
  if (isDecodable(type)) return new Decoder(() => 0, false).object(type, {}, []);
  return scalarRule(type)?.zero;
}

function describe(value: unknown, hidden: boolean): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (hidden) return `a ${typeof value}`;
  const text = typeof value === 'bigint' ? value.toString() : (JSON.stringify(value) ?? 'nothing');
  const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  return `${typeof value} ${shown}`;
}
