type Path = readonly (string | number)[];

/**
 * One mapping of a kubeconfig. Faults are collected with their position and reading continues, so that all are reported
 * at once. Values are never repeated: they may be secrets.
 */
export class Section {
  readonly #path: Path;
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #note: (path: Path, what: string) => void;

  constructor(value: unknown, path: Path, note: (path: Path, what: string) => void) {
    this.#path = path;
    this.#note = note;
    this.#fields = isMapping(value) ? value : {};
    if (!isMapping(value)) note(path, `expected a mapping of fields, got ${typeName(value)}`);
  }

  problem(what: string, ...field: Path): void {
    this.#note([...this.#path, ...field], what);
  }

  has(name: string): boolean {
    return (this.#fields[name] ?? undefined) !== undefined;
  }

  raw(name: string): unknown {
    return this.#fields[name];
  }

  /** Empty counts as missing, as everywhere in kubeconfigs. */
  text(name: string): string | undefined {
    const value = this.#fields[name] ?? '';
    if (typeof value === 'string') return value === '' ? undefined : value;
    this.problem(`expected text, got ${typeName(value)}; put it in quotes`, name);
    return undefined;
  }

  flag(name: string): boolean {
    const value = this.#fields[name] ?? false;
    if (typeof value === 'boolean') return value;
    this.problem(`expected true or false, got ${typeName(value)}`, name);
    return false;
  }

  /** Base64, as in `…-data` fields. */
  data(name: string): string | undefined {
    const text = this.text(name)?.replaceAll(/\s/g, '');
    if (text === undefined) return undefined;
    if (/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return Buffer.from(text, 'base64').toString('utf8');
    this.problem('expected base64, such as `base64 -w0 FILE` prints', name);
    return undefined;
  }

  section(name: string): Section | undefined {
    return this.has(name) ? new Section(this.#fields[name], [...this.#path, name], this.#note) : undefined;
  }

  sections(name: string): readonly Section[] {
    return this.list(name).map((value, index) => new Section(value, [...this.#path, name, index], this.#note));
  }

  list(name: string): readonly unknown[] {
    const value = this.#fields[name] ?? [];
    if (Array.isArray(value)) return value;
    this.problem(`expected a list, got ${typeName(value)}`, name);
    return [];
  }

  /** The `name` entries of a list, by which the others refer to them. */
  named(list: string, wanted: string, key: string): Section | undefined {
    return this.sections(list)
      .findLast((section) => section.raw('name') === wanted)
      ?.section(key);
  }

  names(list: string): readonly string[] {
    return this.list(list).flatMap((entry) =>
      isMapping(entry) && typeof entry['name'] === 'string' ? entry['name'] : [],
    );
  }
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function typeName(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a mapping' : `a ${typeof value}`;
}
