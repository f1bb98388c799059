import { nearest } from '../../base/nearest.ts';
import type { YamlDocument } from '../../base/yaml.ts';

type FieldPath = readonly (string | number)[];

interface ConfigSource {
  readonly file: string;
  readonly document: YamlDocument;
  readonly problems: string[];
}

/**
 * Reads the fields of one mapping of a configuration file. It collects problems with their position and reads on, so that
 * a user sees all of them at once.
 */
export class FieldReader {
  readonly #source: ConfigSource;
  readonly #path: FieldPath;
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #isMapping: boolean;
  readonly #bad = new Set<string>();

  private constructor(source: ConfigSource, path: FieldPath, value: unknown) {
    this.#source = source;
    this.#path = path;
    const fields = isMapping(value) ? value : undefined;
    this.#fields = fields ?? {};
    this.#isMapping = fields !== undefined;
    if (fields === undefined) this.problem(`expected a mapping of fields, got ${kindOf(value)}`);
  }

  static of(file: string, document: YamlDocument): FieldReader {
    return new FieldReader({ file, document, problems: [] }, [], document.value);
  }

  /** All that is wrong with the file so far. */
  get problems(): readonly string[] {
    return this.#source.problems;
  }

  problem(message: string, ...field: FieldPath): void {
    const path = [...this.#path, ...field];
    if (typeof field[0] === 'string') this.#bad.add(field[0]);
    const dotted = path.reduce<string>((text, step) => {
      if (typeof step === 'number') return `${text}[${step}]`;
      return text === '' ? step : `${text}.${step}`;
    }, '');
    const { file, document, problems } = this.#source;
    problems.push(`${file}:${document.lineOf(path)}: ${dotted === '' ? '' : `${dotted}: `}${message}`);
  }

  missing(field: string, what: string): void {
    if (this.isFine(field)) this.problem(`missing; it is ${what}`, field);
  }

  /** Whether no problem of a field was found yet, so that each mistake is reported once. */
  isFine(field: string): boolean {
    return this.#isMapping && !this.#bad.has(field);
  }

  onlyKnown(known: readonly string[]): void {
    for (const name of Object.keys(this.#fields)) {
      if (known.includes(name)) continue;
      const near = nearest(name, known);
      this.problem(`unknown field${near === undefined ? '' : `, did you mean ${near}?`}`, name);
    }
  }

  /** Empty when it is not there. */
  text(name: string): string {
    const value = this.#fields[name] ?? '';
    if (typeof value === 'string') return value;
    this.problem(`expected text, got ${kindOf(value)}; put it in quotes`, name);
    return '';
  }

  oneOf(name: string, allowed: readonly string[]): string {
    const value = this.text(name);
    if (allowed.includes(value)) return value;
    const expected = allowed.length === 1 ? allowed[0] : `one of ${allowed.join(', ')}`;
    if (value === '') this.missing(name, `${expected}`);
    else this.problem(`expected ${expected}, got ${JSON.stringify(value)}`, name);
    return value;
  }

  flag(name: string): boolean | undefined {
    const value = this.#fields[name] ?? undefined;
    if (value === undefined || typeof value === 'boolean') return value;
    this.problem(`expected true or false, got ${kindOf(value)}`, name);
    return undefined;
  }

  texts(name: string): readonly string[] {
    return this.#list(name).flatMap((value, index) => {
      if (typeof value === 'string') return [value];
      this.problem(`expected text, got ${kindOf(value)}; put it in quotes`, name, index);
      return [];
    });
  }

  object(name: string): FieldReader | undefined {
    const value = this.#fields[name] ?? undefined;
    return value === undefined ? undefined : new FieldReader(this.#source, [...this.#path, name], value);
  }

  items(name: string): readonly FieldReader[] {
    return this.#list(name).map((value, index) => new FieldReader(this.#source, [...this.#path, name, index], value));
  }

  #list(name: string): readonly unknown[] {
    const value = this.#fields[name] ?? [];
    if (Array.isArray(value)) return value;
    this.problem(`expected a list, got ${kindOf(value)}`, name);
    return [];
  }
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** By kind and not by value: a misplaced value may still be a secret. */
function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a mapping' : `a ${typeof value}`;
}
