import { formatPath, type FieldPath } from './field-path.ts';

/** Something that keeps an object from being accepted. The path lets a reader name the line of the file. */
export interface Fault {
  readonly path: FieldPath;
  /** Complete: path, class of the fault, value, and what would be right. */
  readonly message: string;
}

/** Collects every fault of an object, worded as the API server words it. */
export class Faults {
  readonly list: Fault[] = [];

  required(path: FieldPath, detail = ''): void {
    this.#add(path, 'Required value', detail);
  }

  invalid(path: FieldPath, value: unknown, detail: string): void {
    this.#add(path, `Invalid value: ${show(value)}`, detail);
  }

  duplicate(path: FieldPath, value: unknown): void {
    this.#add(path, `Duplicate value: ${show(value)}`, '');
  }

  notFound(path: FieldPath, value: unknown): void {
    this.#add(path, `Not found: ${show(value)}`, '');
  }

  forbidden(path: FieldPath, detail: string): void {
    this.#add(path, 'Forbidden', detail);
  }

  unsupported(path: FieldPath, value: unknown, supported: readonly string[]): void {
    this.#add(path, `Unsupported value: ${show(value)}`, `supported values: ${supported.map(show).join(', ')}`);
  }

  /** A value that has to be one of a few; absence counts as a fault of its own. */
  oneOf(path: FieldPath, value: string | undefined, supported: readonly string[]): void {
    if (value === undefined || value === '') this.required(path);
    else if (!supported.includes(value)) this.unsupported(path, value, supported);
  }

  /** As `oneOf`, for a value that may be absent. */
  optionalOneOf(path: FieldPath, value: string | undefined, supported: readonly string[]): void {
    if (value !== undefined && !supported.includes(value)) this.unsupported(path, value, supported);
  }

  /** Checks a text by a rule that returns what is wrong, or undefined. */
  check(path: FieldPath, value: string, rule: (value: string) => string | undefined): void {
    const detail = rule(value);
    if (detail !== undefined) this.invalid(path, value, detail);
  }

  atLeast(path: FieldPath, value: number | undefined, least: number): void {
    if (value !== undefined && value < least) {
      this.invalid(path, value, `must be greater than or equal to ${least}`);
    }
  }

  #add(path: FieldPath, kind: string, detail: string): void {
    this.list.push({ path, message: `${formatPath(path)}: ${kind}${detail === '' ? '' : `: ${detail}`}` });
  }
}

/** Values can be as large as a manifest; a message shows the beginning. */
function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
